import { UnprocessableMessage } from '#authoring/fault';
import { withoutTexts } from '#core/definition/secrets';
import type { Delivery } from '#ports/delivery';
import type { Telemetry } from '#ports/telemetry';
import { counted } from '#ports/util/text';
import type { ChannelHealth } from '#roles/channels/health';
import { channelOf, policyOf } from '#roles/channels/policy';
import { errorText, failureOf, nameOf } from './classify.ts';
import { messageFieldsIn } from './conversation.ts';
import type { Attempt } from './dead-letter.ts';
import { type FailureCount, type FailureCounts, type StartedAttempt, withFailure, without, withReason } from './failure-counts.ts';
import { type HandOverPorts, handOver } from './hand-over.ts';
import { logDelivery } from './log-fields.ts';
import { secretsOfMessage } from './message-secrets.ts';
import { requeue, waitedProblem } from './requeue.ts';

/** A message that could not be handled. `begun`: its attempt, if that was counted before it was made. */
export interface FailedMessage {
  readonly delivery: Delivery;
  readonly error: unknown;
  readonly begun: StartedAttempt | undefined;
}

/** Decides about a failed message. Resolves to true if it is redelivered; otherwise it was dropped, requeued or dead-lettered. */
export type Decide = (failed: FailedMessage) => Promise<boolean>;

interface DecidePorts extends HandOverPorts {
  readonly channelHealth: ChannelHealth;
}

export function createDecide(ports: DecidePorts, counts: FailureCounts): Decide {
  const { app, clock, telemetry, channelHealth, definitions } = ports;
  const attempt = ({ delivery, error, begun }: FailedMessage): Attempt =>
    attemptOf(error, begun?.at ?? clock.now(), secretsOfMessage(delivery, definitions));
  /** Returns the count of a message that is dead-lettered without counting failures. */
  const singleFailure = (failed: FailedMessage): FailureCount => ({
    attempts: [{ ...attempt({ ...failed, begun: undefined }), nothingDone: true }],
    failures: 1,
  });

  /** Removes a started attempt from the count, because it does not count as a failure. */
  async function uncount({ delivery, begun }: FailedMessage): Promise<void> {
    if (begun) await counts.correct(delivery, without(begun.at), begun.counts);
  }

  async function deadLetter({ delivery }: FailedMessage, reason: string, count: FailureCount): Promise<false> {
    await handOver(delivery, reason, count, ports);
    await counts.givenUp(delivery);
    return false;
  }

  /** Requeues a message that only a newer version can process; dead-letters it if it has waited too long. */
  async function leaveToNewer(failed: FailedMessage): Promise<boolean> {
    const { delivery, error } = failed;
    const tooOld = await requeue([delivery], error, ports);
    await uncount(failed);
    if (tooOld.length === 0) return false;
    return deadLetter(failed, waitedProblem(delivery.body) ?? 'This message needs another version of the app.', singleFailure(failed));
  }

  async function countFailure(failed: FailedMessage, maxFailures: number): Promise<boolean> {
    const { delivery, error, begun } = failed;
    const made = attempt(failed);
    const { count } = await counts.change(delivery, begun ? withReason(made) : withFailure(made), begun?.counts);
    if (failureOf(error) === 'content') await ifPossible(delivery, () => channelHealth.failed(delivery.queue), telemetry);
    const failures = count?.failures ?? 1;
    if (count && failures > maxFailures)
      return deadLetter(failed, `Processing failed ${counted(failures, 'time')}, most recently with ${nameOf(error)}.`, count);
    logDelivery('warn', awaitingText, delivery, { kind: nameOf(error), failures }, ports);
    telemetry.count('recordFailed');
    return true;
  }

  async function judge(failed: FailedMessage): Promise<boolean> {
    const { delivery, error } = failed;
    const policy = policyOf(channelOf(delivery.queue), app.channels);
    const failure = failureOf(error);
    if (failure === 'transient') {
      await uncount(failed);
      return awaitRedelivery(failed, telemetry);
    }
    if (failure === 'newer') return leaveToNewer(failed);
    if (policy.drop.includes(String(messageFieldsIn(delivery.body)?.['type']))) {
      await uncount(failed);
      return drop(failed, ports);
    }
    if (failure === 'content' || policy.judge === 'count') return countFailure(failed, policy.maxFailures);
    await uncount(failed);
    const reason = withoutTexts((error as Error).message, secretsOfMessage(delivery, definitions) ?? []);
    return deadLetter(failed, reason, singleFailure(failed));
  }

  return async (failed) => {
    try {
      return await judge(failed);
    } catch (outage) {
      return awaitRedelivery({ ...failed, error: outage }, telemetry);
    }
  };
}

const awaitingText = 'failed to process record, awaiting redelivery';

function awaitRedelivery({ delivery, error }: FailedMessage, telemetry: Telemetry): true {
  telemetry.log('warn', awaitingText, { error, messageId: delivery.messageId });
  telemetry.count('recordFailed');
  return true;
}

function drop({ delivery, error }: FailedMessage, ports: DecidePorts): false {
  logDelivery('info', 'dropped unprocessable message', delivery, { kind: nameOf(error) }, ports);
  ports.telemetry.count('dropped');
  return false;
}

/** Logs a failure of `work` instead of throwing it: the failure must not change what happens to the message. */
export async function ifPossible({ messageId, queue }: Delivery, work: () => Promise<unknown>, telemetry: Telemetry): Promise<void> {
  try {
    await work();
  } catch (error) {
    telemetry.log('warn', 'failed to record message outcome', { error, messageId, queue });
  }
}

const attemptOf = (error: unknown, at: number, secrets: readonly string[] | undefined): Attempt => ({
  at,
  error: errorText(error, secrets),
  ...(error instanceof UnprocessableMessage || failureOf(error) === 'unreadable' ? { nothingDone: true } : {}),
});
