import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
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

/** Sees to what follows from the channels' records, however often that goes wrong: what feeds the functions is so, and people know. */
export interface ChannelReconciler {
  follow(states: Closures): Promise<void>;
}

/** Somebody else may have changed it since: a deployment, or a person. */
const lookAgainMs = 60_000;

export function createChannelReconciler({ consumers, clock, telemetry, ...alerting }: ChannelReconcilerOptions): ChannelReconciler {
  /** What was set last, by queue. */
  const set = new Map<string, { readonly state: 'open' | 'closed'; readonly at: number }>();

  async function keep(queue: string, state: 'open' | 'closed'): Promise<void> {
    const last = set.get(queue);
    if (last?.state === state && clock.now() - last.at < lookAgainMs) return;
    try {
      await consumers?.set([queue], state);
      set.set(queue, { state, at: clock.now() });
    } catch (error) {
      set.delete(queue);
      telemetry.log('warn', 'valve not set: it is tried again', { queue, state, error });
    }
  }

  /** Whoever closed it tells it himself, unless he died first: he is given a while. */
  async function tell(state: ChannelState): Promise<void> {
    if (!state.unannounced || clock.now() < state.at + outboxMs) return;
    try {
      await announceClosing(state, alerting);
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'closing of a channel not announced: it is tried again', { channel: state.channel, error });
    }
  }

  return {
    async follow(states) {
      const now = clock.now();
      for (const state of states.values()) {
        if (state.state === 'closed') telemetry.count('channelClosed');
        // Also that which was shut the time before, and is not now.
        for (const queue of new Set(state.queues.flatMap(pairOf))) await keep(queue, isShut(state, queue, now) ? 'closed' : 'open');
        await tell(state);
      }
    },
  };
}
