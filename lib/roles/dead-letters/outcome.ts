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

/** An attempt that is counted before it is made: the process may not be there any more to count it afterwards. */
export interface StartedAttempt {
  readonly at: number;
  readonly counts: StoredFailureCount;
}

/** Says what becomes of messages, and keeps count (PM). */
export interface FailurePolicy {
  /** What is known of its conversation. */
  counts(delivery: Delivery): Promise<StoredFailureCount>;
  /** Counts an attempt that is about to be made; undefined where enough have failed: it is handed over instead. */
  begin(delivery: Delivery, counts: StoredFailureCount): Promise<StartedAttempt | undefined>;
  succeeded(delivery: Delivery, begun?: StartedAttempt): Promise<void>;
  /** Whether the message is to come again: it is shown again soon. Else it is done with: dropped, put back, or handed to the dead letters. */
  failed(delivery: Delivery, error: unknown, begun?: StartedAttempt): Promise<boolean>;
}

export function createFailurePolicy(ports: FailurePolicyPorts): FailurePolicy {
  const { app, store, queues, clock, telemetry, definitions, channelHealth, random = Math.random } = ports;
  const policyFor = ({ queue }: Delivery) => policyOf(channelOf(queue), app.channels);
  const keyOf = (delivery: Delivery) => ({ channel: channelOf(delivery.queue), conversation: conversationOf(delivery) });
  const change = (delivery: Delivery, how: (track: FailureCount | undefined) => FailureCount | undefined, counts?: StoredFailureCount) =>
    changeFailureCount(keyOf(delivery), how, { store, now: clock.now(), stored: counts });
  const log = (level: 'info' | 'warn', message: string, delivery: Delivery, more: object) =>
    telemetry.log(level, message, { ...logFieldsOf(delivery, policyFor(delivery), definitions), ...more });

  /** Everything that may be known of it goes to the dead letters of its queue; only who takes those keeps it for a person. */
  async function handOver(delivery: Delivery, reason: string, { attempts, failures }: FailureCount): Promise<false> {
    const { queue, messageId, sentAt, senderId, body } = delivery;
    const sender = senderId === undefined ? {} : { senderId };
    const poison = envelopeOf({ queue, messageId, sentAt, ...sender, reason, attempts, failures, body });
    await noteGivenUp(queue, poison, { store, clock });
    await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);
    log('warn', 'message given up', delivery, { reason, failures });
    telemetry.count('givenUp');
    return false;
  }

  async function takeBack(delivery: Delivery, begun: StartedAttempt | undefined): Promise<void> {
    if (begun) await change(delivery, without(begun.at), begun.counts);
  }

  async function comesAgain(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<true> {
    await takeBack(delivery, begun);
    telemetry.log('warn', again, { error, messageId: delivery.messageId });
    telemetry.count('recordFailed');
    return true;
  }

  /** What only a newer version can process waits for it, for a while. */
  async function leftToNewer(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const tooOld = await requeue([delivery], error, ports);
    await takeBack(delivery, begun);
    if (tooOld.length === 0) return false;
    return handOver(delivery, waitedProblem(delivery.body) ?? 'It is for another version.', oneAttempt(error, clock.now()));
  }

  async function counted(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const { maxFailures } = policyFor(delivery);
    const attempt = attemptOf(error, begun?.at ?? clock.now());
    const { count: track } = await change(delivery, begun ? withReason(attempt) : withFailure(attempt), begun?.counts);
    if (failureOf(error) === 'content') await ifPossible(delivery, () => channelHealth.failed(delivery.queue));
    const failures = track?.failures ?? 1;
    if (track && failures > maxFailures)
      return handOver(delivery, `Handling it failed ${failures} times, the last time with ${nameOf(error)}.`, track);
    log('warn', again, delivery, { kind: nameOf(error), failures });
    telemetry.count('recordFailed');
    return true;
  }

  async function judged(delivery: Delivery, error: unknown, begun: StartedAttempt | undefined): Promise<boolean> {
    const policy = policyFor(delivery);
    const failure = failureOf(error);
    if (failure === 'passing') return comesAgain(delivery, error, begun);
    if (failure === 'newer') return leftToNewer(delivery, error, begun);
    if (policy.drop.includes(String(messageFieldsIn(delivery.body)?.['type']))) {
      await takeBack(delivery, begun);
      log('info', 'message dropped: it could not be processed, and another one follows', delivery, { kind: nameOf(error) });
      telemetry.count('dropped');
      return false;
    }
    if (failure === 'content' || policy.judge === 'count') return counted(delivery, error, begun);
    await takeBack(delivery, begun);
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

  /** What becomes of the message is certain by now: that this goes wrong must not bring it back. */
  async function ifPossible({ messageId, queue }: Delivery, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      telemetry.log('warn', 'what became of a message is not noted', { error, messageId, queue });
    }
  }

  return {
    counts: (delivery) => readFailureCount(keyOf(delivery), store, clock.now()),

    async begin(delivery, counts) {
      const { maxFailures } = policyFor(delivery);
      const { count: track } = counts;
      const at = clock.now();
      if (track && track.failures > maxFailures) {
        const atWork = begunSince(track, at - ports.visibilityMsOf(delivery.queue) + marginMs);
        // As far as anybody knows it may still succeed: then there is nothing against the others.
        if (track.failures - atWork <= maxFailures) throw new Error('Another message of its conversation is at work.');
        await handOver(delivery, failuresText(track), track);
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

/** What comes again because a process died may come so much sooner after the beginning than it was hidden for. */
const marginMs = 5_000;

/** Attempts that may be at work still. */
const begunSince = ({ attempts }: FailureCount, since: number): number =>
  attempts.filter(({ at, error }) => error === noFailures && at > since).length;

const again = 'record not processed: it will be delivered again';

/** In words for everybody: what failed may quote the message. */
export const failuresText = ({ attempts, failures }: FailureCount): string =>
  attempts.at(-1)?.error === noFailures
    ? `Handling it began ${failures} times in vain, and the last process to try was never heard of again.`
    : `Handling it failed ${failures} times.`;

const attemptOf = (error: unknown, at: number): Attempt => ({
  at,
  error: errorText(error),
  ...(error instanceof UnprocessableMessage || failureOf(error) === 'unreadable' ? { nothingDone: true } : {}),
});

/** What is judged by itself counts for nothing else. */
const oneAttempt = (error: unknown, at: number): FailureCount => ({
  attempts: [{ ...attemptOf(error, at), nothingDone: true }],
  failures: 1,
});
