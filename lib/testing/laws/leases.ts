import { hasLock } from '#roles/scheduler/lease';
import { type Law, on, type Setting, writerOf } from './law.ts';

/** Only the holder of a lease writes the order, and a renewed lease was never interrupted (S1, F-22). */
export function leases({ toleranceMs, now }: Setting): Law {
  /** Orders that another host wrote after a lease had expired. */
  const shared = new Set<string>();
  return {
    name: 'leases',
    after: on(['written'], (observation) => {
      if (!observation.before) return undefined;
      const { before, after } = observation;
      const { orderId } = after;
      // A person writes through any host: see `orderLocks`.
      if (hasLock(before)) return void shared.delete(orderId);
      if (before.heldBy === null || before.heldUntil === null || before.heldBy !== after.heldBy) return void shared.delete(orderId);
      if ((after.heldUntil ?? 0) > before.heldUntil)
        return shared.has(orderId)
          ? `order ${orderId}: ${before.heldBy} renewed its lease although another host wrote in between`
          : undefined;
      const writer = writerOf(after);
      if (writer === undefined || writer === before.heldBy) return undefined;
      // If two clocks differ, one host may see an expired lease while the other sees a valid one.
      if (before.heldUntil + toleranceMs < now()) shared.add(orderId);
      return before.heldUntil > now() + toleranceMs ? `order ${orderId}: ${writer} wrote while ${before.heldBy} held the lease` : undefined;
    }),
  };
}
