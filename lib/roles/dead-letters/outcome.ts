import { UnprocessableMessage } from '#authoring/fault';
import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import type { Documents } from '#ports/documents';
import { queueNames } from '#ports/messages';
import { groupOf, type Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { ChannelHealth } from '#roles/channels/health';
import { channelOf, policyOf } from '#roles/channels/policy';
import { errorText, failureOf, nameOf } from './classify.ts';
import { conversationOf, mayHaveFailed, messageFieldsIn } from './conversation.ts';
import type { Attempt } from './dead-letter.ts';
import { envelopeOf } from './envelope.ts';
import { noteGivenUp } from './envelope-note.ts';
import {
  changeFailureCount,
  type FailureCount,
  noFailures,
  readFailureCount,
  type StoredFailureCount,
  withFailure,
  without,
  withReason,
} from './failure-counts.ts';
import { logFieldsOf } from './log-fields.ts';
import type { Outages } from './outages.ts';
import { redeliverSoon } from './redelivery-delay.ts';
import { requeue, waitedProblem } from './requeue.ts';

export interface FailurePolicyPorts {
  readonly app: Pick<App, 'channels'>;
  /** For how many milliseconds a message of this queue is invisible while a process works on it. */
  readonly visibilityMsOf: (queue: string) => number;
  readonly store: Documents;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly channelHealth: ChannelHealth;
  readonly outages: Outages;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** An attempt that is counted before it is made, because a process that crashes cannot count it afterwards. */
export interface StartedAttempt {
  readonly at: number;
  readonly counts: StoredFailureCount;
}

/** Failure policy: it decides about failed messages and counts their failures (PM). */
export interface FailurePolicy {
  /** Reads the failure count of the message's conversation. */
  counts(delivery: Delivery): Promise<StoredFailureCount>;
  /** Counts an attempt before it is made. Resolves to undefined if too many have failed: the message is then dead-lettered. */
  begin(delivery: Delivery, counts: StoredFailureCount): Promise<StartedAttempt | undefined>;
  succeeded(delivery: Delivery, begun?: StartedAttempt): Promise<void>;
  /** Resolves to true if the message is redelivered. Otherwise it has been dropped, requeued or sent to the dead-letter queue. */
  failed(delivery: Delivery, error: unknown, begun?: StartedAttempt): Promise<boolean>;
}

export function createFailurePolicy(ports: FailurePolicyPorts): FailurePolicy {
  const { app, store, queues, clock, telemetry, definitions, channelHealth, random = Math.random } = ports;
  const policyFor = ({ queue }: Delivery) => policyOf(channelOf(queue), app.channels);
  const keyOf = (delivery: Delivery) => ({ channel: channelOf(delivery.queue), conversation: conversationOf(delivery) });
  const change = (delivery: Delivery, how: (count: FailureCount | undefined) => FailureCount | undefined, counts?: StoredFailureCount) =>
    changeFailureCount(keyOf(delivery), how, { store, now: clock.now(), stored: counts });
  const log = (level: 'info' | 'warn', message: string, delivery: Delivery, more: object) =>
    telemetry.log(level, message, { ...logFieldsOf(delivery, policyFor(delivery), definitions), ...more });

  /** Sends a message with its failures to the dead-letter queue. The consumer of that queue keeps it for an operator. */
  async function handOver(delivery: Delivery, reason: string, { attempts, failures }: FailureCount): Promise<false> {
    const { queue, messageId, sentAt, senderId, body } = delivery;
    const sender = senderId === undefined ? {} : { senderId };
    const poison = envelopeOf({ queue, messageId, sentAt, ...sender, reason, attempts, failures, body });
    await noteGivenUp(queue, poison, { store, clock });
    await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);
    log('warn', 'dead-lettered message', delivery, { reason, failures });
    telemetry.count('givenUp');
    return false;
  }

  /** Removes a started attempt from the count, because it does not count as a failure. */
  async function uncount(delivery: Delivery, begun: StartedAttempt | undefined): Promise<void> {
    if (begun) await change(delivery, without(begun.at), begun.counts);
  }

  async function redelivered(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<true> {
    await uncount(delivery, begun);
    telemetry.log('warn', again, { error, messageId: delivery.messageId });
    telemetry.count('recordFailed');
    return true;
  }

  /** Requeues a message that only a newer version can process; dead-letters it if it has waited too long. */
  async function leftToNewer(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const tooOld = await requeue([delivery], error, ports);
    await uncount(delivery, begun);
    if (tooOld.length === 0) return false;
    return handOver(delivery, waitedProblem(delivery.body) ?? 'This message needs another version.', oneAttempt(error, clock.now()));
  }

  async function counted(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const { maxFailures } = policyFor(delivery);
    const attempt = attemptOf(error, begun?.at ?? clock.now());
    const { count } = await change(delivery, begun ? withReason(attempt) : withFailure(attempt), begun?.counts);
    if (failureOf(error) === 'content') await ifPossible(delivery, () => channelHealth.failed(delivery.queue));
    const failures = count?.failures ?? 1;
    if (count && failures > maxFailures)
      return handOver(delivery, `Processing failed ${failures} times, most recently with ${nameOf(error)}.`, count);
    log('warn', again, delivery, { kind: nameOf(error), failures });
    telemetry.count('recordFailed');
    return true;
  }

  async function judged(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const policy = policyFor(delivery);
    const failure = failureOf(error);
    if (failure === 'passing') return redelivered(delivery, error, begun);
    if (failure === 'newer') return leftToNewer(delivery, error, begun);
    if (policy.drop.includes(String(messageFieldsIn(delivery.body)?.['type']))) {
      await uncount(delivery, begun);
      log('info', 'dropped unprocessable message', delivery, { kind: nameOf(error) });
      telemetry.count('dropped');
      return false;
    }
    if (failure === 'content' || policy.judge === 'count') return counted(delivery, error, begun);
    await uncount(delivery, begun);
    return handOver(delivery, (error as Error).message, oneAttempt(error, clock.now()));
  }

  async function judgedOrAgain(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    try {
      return await judged(delivery, error, begun);
    } catch (outage) {
      telemetry.log('warn', again, { error: outage, messageId: delivery.messageId });
      telemetry.count('recordFailed');
      return true;
    }
  }

  /** Logs failures of `work`. The fate of the message is decided by now, so they must not cause a redelivery. */
  async function ifPossible({ messageId, queue }: Delivery, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      telemetry.log('warn', 'failed to record message outcome', { error, messageId, queue });
    }
  }

  return {
    counts: (delivery) => readFailureCount(keyOf(delivery), store, clock.now()),

    async begin(delivery, counts) {
      const { maxFailures } = policyFor(delivery);
      const { count } = counts;
      const at = clock.now();
      if (count && count.failures > maxFailures) {
        const atWork = begunSince(count, at - ports.visibilityMsOf(delivery.queue) + marginMs);
        // An attempt at work may still succeed, and a success would clear the count. So this message waits for it.
        if (count.failures - atWork <= maxFailures) throw new Error('Another message of the same conversation is being processed.');
        await handOver(delivery, failuresText(count), count);
        return undefined;
      }
      return { at, counts: await change(delivery, withFailure({ at, error: noFailures }), counts) };
    },

    async succeeded(delivery, begun) {
      if (begun || mayHaveFailed(delivery)) await ifPossible(delivery, () => change(delivery, () => undefined, begun?.counts));
      await ifPossible(delivery, () => channelHealth.succeeded(delivery.queue));
    },

    async failed(delivery, error, begun) {
      const isAgain = await judgedOrAgain(delivery, error, begun);
      if (isAgain) await redeliverSoon(delivery, failureOf(error), { queues, telemetry, random });
      return isAgain;
    },
  };
}

/** Allowance: after a crash, a message may be redelivered this much earlier after the start of its attempt than its timeout. */
const marginMs = 5_000;

/** Returns the number of attempts that may still be at work. */
const begunSince = ({ attempts }: FailureCount, since: number): number =>
  attempts.filter(({ at, error }) => error === noFailures && at > since).length;

const again = 'failed to process record, awaiting redelivery';

/** Returns the reason of a dead letter, without the errors: their texts may quote the message. */
export const failuresText = ({ attempts, failures }: FailureCount): string =>
  attempts.at(-1)?.error === noFailures
    ? `Processing began ${failures} times without success. The last process stopped without a result.`
    : `Processing failed ${failures} times.`;

const attemptOf = (error: unknown, at: number): Attempt => ({
  at,
  error: errorText(error),
  ...(error instanceof UnprocessableMessage || failureOf(error) === 'unreadable' ? { nothingDone: true } : {}),
});

/** Returns the failure count of a message that is dead-lettered at its first failure. */
const oneAttempt = (error: unknown, at: number): FailureCount => ({
  attempts: [{ ...attemptOf(error, at), nothingDone: true }],
  failures: 1,
});
