import type { ChannelPolicies } from '#authoring/channel-policy';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import type { Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { announceClosing } from './alert.ts';
import { channelOf, policyOf } from './policy.ts';
import { type ChannelState, changeChannelState, failed, succeeded } from './state.ts';

/**
 * Told of everything that was handled, by the queue that it came on. Failures are those of handling content: of a message that
 * nobody can read its sender is to blame, and an outage or a lost race says nothing of the channel.
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
  /** Where something beside this process feeds the functions. */
  readonly consumers?: Consumers | undefined;
}

/**
 * The last of the safety nets: what fails again and again, whatever it is asked, is stopped until a person has looked at it
 * (PM). As long as a process knows of no failure it asks nobody.
 */
export function createChannelHealth(options: ChannelHealthOptions): ChannelHealth {
  const { documents, clock, telemetry, policies, consumers } = options;
  /** Channels of whose failures this process knows. */
  const failing = new Set<string>();
  const succeededAt = new Map<string, number>();

  async function tellOfClosing(state: ChannelState): Promise<void> {
    telemetry.count('channelClosed');
    telemetry.log('error', 'channel closed: what needs it waits', { channel: state.channel, reason: state.reason });
    // Neither waits for the other: what can't be had now, the supervisor sees to.
    await allSettledOrThrow([
      unlessUnavailable(state.channel, () => announceClosing(state, options)),
      unlessUnavailable(state.channel, async () => consumers?.set(state.queues, 'closed')),
    ]);
  }

  /** A message must not fail, or fail twice, because nobody could be told how it went. */
  async function unlessUnavailable(channel: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'health of a channel not noted', { channel, error });
    }
  }

  return {
    async failed(queue) {
      // Messages end in the dead letters: those queues are consumed whatever is wrong.
      if (queue.endsWith('-dead')) return;
      const channel = channelOf(queue);
      failing.add(channel);
      await unlessUnavailable(channel, async () => {
        const { closesAfter } = policyOf(channel, policies);
        const last = succeededAt.get(channel) ?? Number.NEGATIVE_INFINITY;
        const report = { channel, queue, now: clock.now(), closesAfter, succeededAt: last };
        const { outcome, state } = await changeChannelState(channel, documents, (before) => failed(before, report));
        if (outcome === 'changed' && state.state === 'closed') await tellOfClosing(state);
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
