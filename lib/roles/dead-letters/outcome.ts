import { UnprocessableMessage } from '#authoring/fault';
import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import type { Documents } from '#ports/documents';
import { queues } from '#ports/messages';
import { type Channel, groupOf } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { ChannelHealth } from '#roles/channels/health';
import { channelOf, policyOf } from '#roles/channels/policy';
import { failureOf, nameOf, told } from './classify.ts';
import { conversationOf, mayHaveFailed, saidIn } from './conversation.ts';
import type { Attempt } from './dead-letter.ts';
import { envelopeOf } from './envelope.ts';
import { noteGivenUp } from './envelope-note.ts';
import { changeTrack, neverHeardOf, readTrack, type Track, type Tracked, withFailure, without, withReason } from './failure-counts.ts';
import { shown } from './log-fields.ts';
import type { Outages } from './outages.ts';
import { comesAgainSoon } from './redelivery-delay.ts';
import { putBack, waitedProblem } from './requeue.ts';

export interface JudgePorts {
  readonly app: Pick<App, 'channels'>;
  /** For how many milliseconds a message of this queue is invisible while a process works on it. */
  readonly visibilityMsOf: (queue: string) => number;
  readonly store: Documents;
  readonly channel: Channel;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly channelHealth: ChannelHealth;
  readonly outages: Outages;
  /** A number from 0 to 1, for jitter. */
  readonly chance?: () => number;
}

/** An attempt that is counted before it is made: the process may not be there any more to count it afterwards. */
export interface Begun {
  readonly at: number;
  readonly known: Tracked;
}

/** Says what becomes of messages, and keeps count (PM). */
export interface Judge {
  /** What is known of its conversation. */
  known(delivery: Delivery): Promise<Tracked>;
  /** Counts an attempt that is about to be made; undefined where enough have failed: it is handed over instead. */
  begin(delivery: Delivery, known: Tracked): Promise<Begun | undefined>;
  succeeded(delivery: Delivery, begun?: Begun): Promise<void>;
  /** Whether the message is to come again: it is shown again soon. Else it is done with: dropped, put back, or handed to the dead letters. */
  failed(delivery: Delivery, error: unknown, begun?: Begun): Promise<boolean>;
}

export function createJudge(ports: JudgePorts): Judge {
  const { app, store, channel, clock, telemetry, definitions, channelHealth, chance = Math.random } = ports;
  const policyFor = ({ queue }: Delivery) => policyOf(channelOf(queue), app.channels);
  const keyOf = (delivery: Delivery) => ({ channel: channelOf(delivery.queue), conversation: conversationOf(delivery) });
  const change = (delivery: Delivery, how: (track: Track | undefined) => Track | undefined, known?: Tracked) =>
    changeTrack(keyOf(delivery), how, { store, now: clock.now(), known });
  const log = (level: 'info' | 'warn', message: string, delivery: Delivery, more: object) =>
    telemetry.log(level, message, { ...shown(delivery, policyFor(delivery), definitions), ...more });

  /** Everything that may be known of it goes to the dead letters of its queue; only who takes those keeps it for a person. */
  async function handOver(delivery: Delivery, reason: string, { attempts, failures }: Track): Promise<false> {
    const { queue, messageId, sentAt, senderId, body } = delivery;
    const sender = senderId === undefined ? {} : { senderId };
    const poison = envelopeOf({ queue, messageId, sentAt, ...sender, reason, attempts, failures, body });
    await noteGivenUp(queue, poison, { store, clock });
    await channel.send([{ queue: queues.deadLetters(queue), body: poison, ...groupOf(delivery) }]);
    log('warn', 'message given up', delivery, { reason, failures });
    telemetry.count('givenUp');
    return false;
  }

  async function takeBack(delivery: Delivery, begun: Begun | undefined): Promise<void> {
    if (begun) await change(delivery, without(begun.at), begun.known);
  }

  async function comesAgain(delivery: Delivery, error: unknown, begun: Begun | undefined): Promise<true> {
    await takeBack(delivery, begun);
    telemetry.log('warn', again, { error, messageId: delivery.messageId });
    telemetry.count('recordFailed');
    return true;
  }

  /** What only a newer version can process waits for it, for a while. */
  async function leftToNewer(delivery: Delivery, error: unknown, begun: Begun | undefined): Promise<boolean> {
    const tooOld = await putBack([delivery], error, ports);
    await takeBack(delivery, begun);
    if (tooOld.length === 0) return false;
    return handOver(delivery, waitedProblem(delivery.body) ?? 'It is for another version.', oneAttempt(error, clock.now()));
  }

  async function counted(delivery: Delivery, error: unknown, begun: Begun | undefined): Promise<boolean> {
    const { maxFailures } = policyFor(delivery);
    const attempt = attemptOf(error, begun?.at ?? clock.now());
    const { track } = await change(delivery, begun ? withReason(attempt) : withFailure(attempt), begun?.known);
    if (failureOf(error) === 'content') await ifPossible(delivery, () => channelHealth.failed(delivery.queue));
    const failures = track?.failures ?? 1;
    if (track && failures > maxFailures)
      return handOver(delivery, `Handling it failed ${failures} times, the last time with ${nameOf(error)}.`, track);
    log('warn', again, delivery, { kind: nameOf(error), failures });
    telemetry.count('recordFailed');
    return true;
  }

  async function judged(delivery: Delivery, error: unknown, begun: Begun | undefined): Promise<boolean> {
    const policy = policyFor(delivery);
    const failure = failureOf(error);
    if (failure === 'passing') return comesAgain(delivery, error, begun);
    if (failure === 'newer') return leftToNewer(delivery, error, begun);
    if (policy.drop.includes(String(saidIn(delivery.body)?.['type']))) {
      await takeBack(delivery, begun);
      log('info', 'message dropped: it could not be processed, and another one follows', delivery, { kind: nameOf(error) });
      telemetry.count('dropped');
      return false;
    }
    if (failure === 'content' || policy.judge === 'count') return counted(delivery, error, begun);
    await takeBack(delivery, begun);
    return handOver(delivery, (error as Error).message, oneAttempt(error, clock.now()));
  }

  async function judgedOrAgain(delivery: Delivery, error: unknown, begun: Begun | undefined): Promise<boolean> {
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
    known: (delivery) => readTrack(keyOf(delivery), store, clock.now()),

    async begin(delivery, known) {
      const { maxFailures } = policyFor(delivery);
      const { track } = known;
      const at = clock.now();
      if (track && track.failures > maxFailures) {
        const atWork = begunSince(track, at - ports.visibilityMsOf(delivery.queue) + marginMs);
        // As far as anybody knows it may still succeed: then there is nothing against the others.
        if (track.failures - atWork <= maxFailures) throw new Error('Another message of its conversation is at work.');
        await handOver(delivery, storyOf(track), track);
        return undefined;
      }
      return { at, known: await change(delivery, withFailure({ at, error: neverHeardOf }), known) };
    },

    async succeeded(delivery, begun) {
      if (begun || mayHaveFailed(delivery)) await ifPossible(delivery, () => change(delivery, () => undefined, begun?.known));
      await ifPossible(delivery, () => channelHealth.succeeded(delivery.queue));
    },

    async failed(delivery, error, begun) {
      const isAgain = await judgedOrAgain(delivery, error, begun);
      if (isAgain) await comesAgainSoon(delivery, failureOf(error), { channel, telemetry, chance });
      return isAgain;
    },
  };
}

/** What comes again because a process died may come so much sooner after the beginning than it was hidden for. */
const marginMs = 5_000;

/** Attempts that may be at work still. */
const begunSince = ({ attempts }: Track, since: number): number =>
  attempts.filter(({ at, error }) => error === neverHeardOf && at > since).length;

const again = 'record not processed: it will be delivered again';

/** In words for everybody: what failed may quote the message. */
export const storyOf = ({ attempts, failures }: Track): string =>
  attempts.at(-1)?.error === neverHeardOf
    ? `Handling it began ${failures} times in vain, and the last process to try was never heard of again.`
    : `Handling it failed ${failures} times.`;

const attemptOf = (error: unknown, at: number): Attempt => ({
  at,
  error: told(error),
  ...(error instanceof UnprocessableMessage || failureOf(error) === 'unreadable' ? { nothingDone: true } : {}),
});

/** What is judged by itself counts for nothing else. */
const oneAttempt = (error: unknown, at: number): Track => ({ attempts: [{ ...attemptOf(error, at), nothingDone: true }], failures: 1 });
