import type { Delivery } from '#ports/delivery';
import type { ChannelHealth } from '#roles/channels/health';
import { channelOf, policyOf } from '#roles/channels/policy';
import { failureOf } from './classify.ts';
import { mayHaveFailed } from './conversation.ts';
import { createDecide, ifPossible } from './failed-message.ts';
import {
  createFailureCounts,
  type FailureCount,
  failuresText,
  noResult,
  type StartedAttempt,
  type StoredFailureCount,
  withFailure,
  without,
} from './failure-counts.ts';
import { type HandOverPorts, handOver } from './hand-over.ts';
import type { Outages } from './outages.ts';
import { redeliverSoon } from './redelivery-delay.ts';

export interface FailurePolicyPorts extends HandOverPorts {
  /** Returns the time, in milliseconds, for which a message of this queue is invisible while a process works on it. */
  readonly visibilityMsOf: (queue: string) => number;
  readonly channelHealth: ChannelHealth;
  readonly outages: Outages;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** Failure policy: it decides about failed messages and counts their failures (F-109, F-111). */
export interface FailurePolicy {
  /** Reads the failure count of the message's conversation. */
  counts(delivery: Delivery): Promise<StoredFailureCount>;
  /**
   * Counts an attempt before it is made. Resolves to undefined if too many attempts have failed: the message is then dead-lettered. Rejects
   * while another attempt of the conversation may still succeed.
   */
  begin(delivery: Delivery, counts: StoredFailureCount): Promise<StartedAttempt | undefined>;
  succeeded(delivery: Delivery, begun?: StartedAttempt): Promise<void>;
  /** Resolves to true if the message is redelivered. Otherwise it has been dropped, requeued or sent to the dead-letter queue. */
  failed(delivery: Delivery, error: unknown, begun?: StartedAttempt): Promise<boolean>;
}

export function createFailurePolicy(ports: FailurePolicyPorts): FailurePolicy {
  const { app, queues, clock, telemetry, channelHealth, random = Math.random } = ports;
  const failureCounts = createFailureCounts({ ...ports, consumers: ports.definitions.consumers });
  const decide = createDecide(ports, failureCounts);

  return {
    counts: (delivery) => failureCounts.read(delivery),

    async begin(delivery, counts) {
      const { maxFailures } = policyOf(channelOf(delivery.queue), app.channels);
      const isAboveLimit = ({ count }: StoredFailureCount): boolean => (count?.failures ?? 0) > maxFailures;
      // The count was read before other messages of the batch were handled. An attempt that it contains may have ended since then, without
      // a failure.
      const found = isAboveLimit(counts) ? await failureCounts.read(delivery) : counts;
      const { count } = found;
      const at = clock.now();
      if (count && isAboveLimit(found)) {
        const atWork = begunSince(count, at - ports.visibilityMsOf(delivery.queue) + marginMs);
        // An attempt that runs may still succeed, and a success would clear the count. So this message waits for that attempt.
        if (count.failures - atWork <= maxFailures) throw new Error('Another message of the same conversation is being processed.');
        await handOver(delivery, failuresText(count), count, ports);
        await failureCounts.givenUp(delivery);
        return undefined;
      }
      try {
        return { at, counts: await failureCounts.change(delivery, withFailure({ at, error: noResult }), found) };
      } catch (error) {
        // The write may have been applied without its answer. An attempt that is not made must not count.
        await ifPossible(delivery, () => failureCounts.correct(delivery, without(at)), telemetry);
        throw error;
      }
    },

    async succeeded(delivery, begun) {
      const clear = () => failureCounts.correct(delivery, () => undefined, begun?.counts);
      if (begun || mayHaveFailed(delivery)) await ifPossible(delivery, clear, telemetry);
      await ifPossible(delivery, () => channelHealth.succeeded(delivery.queue), telemetry);
    },

    async failed(delivery, error, begun) {
      const isAgain = await decide({ delivery, error, begun });
      if (isAgain) await redeliverSoon(delivery, failureOf(error), { queues, telemetry, random });
      return isAgain;
    },
  };
}

/**
 * The visibility timeout of a message begins before the recorded start of its attempt. So an attempt counts as over this long before a
 * timeout that begins at the recorded start would end.
 */
const marginMs = 5_000;

/** Returns the number of attempts that may still be running. */
const begunSince = ({ attempts }: FailureCount, since: number): number =>
  attempts.filter(({ at, error }) => error === noResult && at > since).length;
