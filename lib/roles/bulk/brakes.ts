import { awaitsProbe } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { PauseCause } from './run.ts';

interface Ports {
  readonly store: Pick<Store, 'breaker'>;
  readonly queues: Pick<Queues, 'depth'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The queues of the scheduler. */
  readonly schedulerQueues: readonly string[];
}

/** A queue of the scheduler is behind if a message has waited longer than this. */
const olderThanMs = 10_000;
/** A queue is also behind if at least so many messages wait in it for that long: not every queue reports how old its messages are. */
const manyMin = 20;

/** The reasons why a bulk run must wait: a remote service that it needs is unavailable, or the scheduler is behind. */
export interface Brakes {
  found(agents: readonly string[]): Promise<PauseCause | undefined>;
}

export function createBrakes({ store, queues, clock, schedulerQueues }: Ports): Brakes {
  const fullSince = new Map<string, number>();

  async function isBehind(queue: string): Promise<boolean> {
    const { visible, oldestAgeMs } = await queues.depth(queue);
    const now = clock.now();
    if (visible >= manyMin) fullSince.set(queue, fullSince.get(queue) ?? now);
    else fullSince.delete(queue);
    return (visible > 0 && oldestAgeMs > olderThanMs) || now - (fullSince.get(queue) ?? now) > olderThanMs;
  }

  return {
    async found(agents) {
      // If no other request will be the next probe, the run does not pause: an order of the run is the probe.
      for (const agent of agents) if (awaitsProbe(await store.breaker(agent), clock.now())) return { by: 'breaker', agent };
      for (const queue of schedulerQueues) if (await isBehind(queue)) return { by: 'backlog', queue };
      return undefined;
    },
  };
}
