import type { Tracked } from '../history.ts';
import { type Law, on, type Times } from './law.ts';

/**
 * At least three times what orders have ever come to. Whoever calls one that takes three hours asks after it every ten minutes:
 * that is most of the first, and there were 45.
 */
const writesMax = { atAll: 135, eachStep: 4, eachHour: 4 };
/** Most worlds are over by then. What does not succeed is tried every hour for as long as a world lasts. */
const shortMs = 43_200_000;

/** L7: when nothing goes wrong any more, no order is written without end: so often for each step of it, and so often beside. */
export function livelock({ quietSince, now }: Times): Law {
  const writes = new Map<string, number>();
  return {
    name: 'livelock',
    after: on(['written'], (happening, history) => {
      const since = quietSince();
      if (since === undefined) return undefined;
      const { orderId } = happening.after;
      const written = (writes.get(orderId) ?? 0) + 1;
      writes.set(orderId, written);
      if (written <= writesMax.atAll) return undefined;
      const steps = stepsOf(history.orders.get(orderId));
      const hours = Math.max(0, now() - since - shortMs) / 3_600_000;
      return written > writesMax.atAll + writesMax.eachStep * steps + writesMax.eachHour * hours
        ? `${orderId} has ${steps} steps, and is written for the ${written}th time since nothing goes wrong any more`
        : undefined;
    }),
  };
}

/** With their undos; however often each was asked for. */
const stepsOf = (order: Tracked | undefined): number =>
  new Set(order?.journal.flatMap((fact) => (fact.type === 'StepAsked' ? [fact.path] : []))).size;
