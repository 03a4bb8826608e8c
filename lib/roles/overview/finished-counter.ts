import type { Clock } from '#ports/clock';
import type { OrderFigures } from '#ports/order-figures';

const minuteMs = 60_000;
const flushMs = 10_000;

interface Ports {
  readonly store: Pick<OrderFigures, 'addFinished'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Counts the orders that this process ends, for a store that cannot count them itself, and adds the counts to the store at most every ten
 * seconds, when an order ends. The figures are approximate: a process that ends loses the counts that it has not added yet.
 */
export function createFinishedCounter({ store, clock }: Ports): { ended(): Promise<void> } {
  const { addFinished } = store;
  let counted = new Map<number, number>();
  let flushedAt = Number.NEGATIVE_INFINITY;
  return {
    async ended() {
      if (!addFinished) return;
      const now = clock.now();
      const minute = now - (now % minuteMs);
      counted.set(minute, (counted.get(minute) ?? 0) + 1);
      if (now - flushedAt < flushMs) return;
      const taken = counted;
      counted = new Map();
      flushedAt = now;
      await addFinished(taken);
    },
  };
}
