import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * Limits of the writes of one order: at least three times the largest counts in any simulated world. A caller requests the state of a
 * called order every ten minutes. That takes two writes: the expired deadline and the next request. A suspended order asks for its handler
 * in the same way.
 */
const writesMax = { inAnyCase: 60, eachStep: 4, eachHour: 4, eachHourOfCall: 12 };
/** Most worlds end within this time. Afterwards, what still fails is retried every hour. */
const shortMs = 43_200_000;
const hourMs = 3_600_000;

/** After all faults have ended, the number of an order's writes is bounded by its steps and calls (L7). */
export function livelock({ quietSince, now }: Setting): Law {
  const writes = new Map<string, number>();
  return {
    name: 'livelock',
    after: on(['written'], (observation, history) => {
      const since = quietSince();
      if (since === undefined) return undefined;
      const { orderId } = observation.after;
      const written = (writes.get(orderId) ?? 0) + 1;
      writes.set(orderId, written);
      if (written <= writesMax.inAnyCase) return undefined;
      const steps = stepsOf(history.orders.get(orderId));
      const calls = callsOf(orderId, history);
      const most = writesMax.inAnyCase + writesMax.eachStep * steps + writesWhileWaiting(calls, now() - since);
      return written > most
        ? `order ${orderId}, with ${steps} steps and ${calls} calls, was written ${written} times after all faults had ended`
        : undefined;
    }),
  };
}

/** Returns the most writes of an order that waits for `ms` and has made this many calls: a called order may wait for a person for days. */
export const writesWhileWaiting = (calls: number, ms: number): number =>
  (writesMax.eachHour * Math.max(0, ms - shortMs)) / hourMs + (writesMax.eachHourOfCall * calls * ms) / hourMs;

/** Returns how many orders an order has called, plus how many have handled its exceptions. */
export const callsOf = (orderId: string, history: History): number =>
  history.calledBy(orderId).length + handlersOf(history.orders.get(orderId));

/** Returns the number of orders that have handled the exceptions of an order. */
const handlersOf = (order: Tracked | undefined): number => order?.journal.filter(({ type }) => type === 'HandlerStarted').length ?? 0;

/** Returns the number of steps and undos that an order has requested. A repeated request does not count. */
const stepsOf = (order: Tracked | undefined): number =>
  new Set(order?.journal.flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []))).size;
