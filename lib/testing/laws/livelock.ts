import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * At least three times what orders have ever come to beside their calls. An order asks every ten minutes what became of one that
 * it called, for as long as that one lasts: one write when the time is over, and one with the next request.
 */
const writesMax = { atAll: 60, eachStep: 4, eachHour: 4, eachHourOfCall: 12 };
/** Most worlds are over by then. What does not succeed is tried every hour for as long as a world lasts. */
const shortMs = 43_200_000;
const hourMs = 3_600_000;

/** L7: when nothing goes wrong any more, no order is written without end: so often for each step and call of it, and so often beside. */
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
      if (written <= writesMax.atAll) return undefined;
      const steps = stepsOf(history.orders.get(orderId));
      const calls = history.childrenOf(orderId).length;
      const quietMs = now() - since;
      const most =
        writesMax.atAll +
        writesMax.eachStep * steps +
        (writesMax.eachHour * Math.max(0, quietMs - shortMs)) / hourMs +
        (writesMax.eachHourOfCall * calls * quietMs) / hourMs;
      return written > most
        ? `${orderId} has ${steps} steps, has called ${calls} orders, and is written for the ${written}th time since nothing goes wrong any more`
        : undefined;
    }),
  };
}

/** With their undos; however often each was asked for. */
const stepsOf = (order: Tracked | undefined): number =>
  new Set(order?.journal.flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []))).size;
