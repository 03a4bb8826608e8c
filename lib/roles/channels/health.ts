import type { ChannelPolicies } from '#authoring/channel-policy';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import type { Documents } from '#ports/documents';
import { isFatal } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import { isDeadLetterQueue } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { announceClosing } from './alert.ts';
import { channelOf, policyOf } from './policy.ts';
import { type ChannelState, changeChannelState, failed, succeeded } from './state.ts';

/**
 * Health of the channels. It receives the result of every handled message, with its queue. Only failures to handle the content
 * count: unreadable messages are their sender's error, and outages and lost races say nothing about the channel.
 */
export interface ChannelHealth {
  failed(queue: string): Promise<void>;
  succeeded(queue: string): Promise<void>;
}

export interface ChannelHealthOptions {
  readonly documents: Documents;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly policies?: ChannelPolicies | undefined;
  /** Absent if this process itself passes the messages of the queues to the functions. */
  readonly consumers?: Consumers | undefined;
}

/**
 * Returns the health of the channels. A channel is closed after several failures in a row, until an operator opens it (PM).
 * While a process knows of no failure, it does not read the store.
 */
export function createChannelHealth(options: ChannelHealthOptions): ChannelHealth {
  const { documents, clock, telemetry, policies, consumers } = options;
  /** Channels with failures that this process has seen since their last success. */
  const failing = new Set<string>();
  const succeededAt = new Map<string, number>();

  async function reportClosing(state: ChannelState): Promise<void> {
    telemetry.count('channelClosed');
    telemetry.log('error', 'closed channel', { channel: state.channel, reason: state.reason });
    // The announcement and the change of the consumers are independent. If one fails, the supervisor repeats it.
    await allSettledOrThrow([
      unlessUnavailable(state.channel, () => announceClosing(state, options)),
      unlessUnavailable(state.channel, async () => consumers?.set(state.queues, 'closed')),
    ]);
  }

  /** Logs failures of `work`. A message must not fail, or be handled twice, because its result could not be recorded. */
  async function unlessUnavailable(channel: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isFatal(error)) throw error;
      telemetry.log('warn', 'failed to record channel health', { channel, error });
    }
  }

  return {
    async failed(queue) {
      // Dead-letter queues are consumed always: no failure closes them.
      if (isDeadLetterQueue(queue)) return;
      const channel = channelOf(queue);
      failing.add(channel);
      await unlessUnavailable(channel, async () => {
        const { closesAfter } = policyOf(channel, policies);
        const last = succeededAt.get(channel) ?? Number.NEGATIVE_INFINITY;
        const report = { channel, queue, now: clock.now(), closesAfter, succeededAt: last };
        const { outcome, state } = await changeChannelState(channel, documents, (before) => failed(before, report));
        if (outcome === 'changed' && state.state === 'closed') await reportClosing(state);
      });
    },

    async succeeded(queue) {
      const channel = channelOf(queue);
      succeededAt.set(channel, clock.now());
      if (!failing.delete(channel)) return;
      await unlessUnavailable(channel, async () => void (await changeChannelState(channel, documents, succeeded)));
    },
  };
}
