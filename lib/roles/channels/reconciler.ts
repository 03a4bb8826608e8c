import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';
import { outboxMs } from '#roles/scheduler/deadlines';
import { announceClosing, type ChannelAlertPorts } from './alert.ts';
import { pairOf } from './policy.ts';
import { type ChannelState, type Closures, isShut } from './state.ts';

export interface ChannelReconcilerOptions extends ChannelAlertPorts {
  readonly consumers: Consumers | undefined;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Reconciler of the channels. It makes consumers and announcements follow the channels' records, and retries until they do. */
export interface ChannelReconciler {
  follow(states: Closures): Promise<void>;
}

/** Consumers are set again after this time, because a deployment or a person may have changed them. */
const lookAgainMs = 60_000;

export function createChannelReconciler({ consumers, clock, telemetry, ...alerting }: ChannelReconcilerOptions): ChannelReconciler {
  /** State of the consumers as last set, by queue. */
  const lastSet = new Map<string, { readonly state: 'open' | 'closed'; readonly at: number }>();

  async function keep(queue: string, state: 'open' | 'closed'): Promise<void> {
    const last = lastSet.get(queue);
    if (last?.state === state && clock.now() - last.at < lookAgainMs) return;
    try {
      await consumers?.set([queue], state);
      lastSet.set(queue, { state, at: clock.now() });
    } catch (error) {
      lastSet.delete(queue);
      telemetry.log('warn', 'failed to set consumer state, retrying', { queue, state, error });
    }
  }

  /** Announces a closing if the process that closed the channel has not done so in time. */
  async function announce(state: ChannelState): Promise<void> {
    if (!state.unannounced || clock.now() < state.at + outboxMs) return;
    try {
      await announceClosing(state, alerting);
    } catch (error) {
      if (isFatal(error)) throw error;
      telemetry.log('warn', 'failed to announce closed channel, retrying', { channel: state.channel, error });
    }
  }

  return {
    async follow(states) {
      const now = clock.now();
      for (const state of states.values()) {
        if (state.state === 'closed') telemetry.count('channelClosed');
        // The record names the queues that are closed now. The other queue of the pair may have been closed before: its consumers start.
        for (const queue of new Set(state.queues.flatMap(pairOf))) await keep(queue, isShut(state, queue, now) ? 'closed' : 'open');
        await announce(state);
      }
    },
  };
}
