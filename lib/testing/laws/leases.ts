import { type Law, on, type Setting, writerOf } from './law.ts';

/** S1, LOCK: whoever has an order to himself has it alone, and who renews his lease has had it all the time. */
export function leases({ toleranceMs, now }: Setting): Law {
  /** Orders at which another one was while a lease on them had run out. */
  const shared = new Set<string>();
  return {
    name: 'leases',
    after: on(['written'], (observation) => {
      if (!observation.before) return undefined;
      const { before, after } = observation;
      const { orderId } = after;
      if (before.heldBy === null || before.heldUntil === null || before.heldBy !== after.heldBy) return void shared.delete(orderId);
      if ((after.heldUntil ?? 0) > before.heldUntil)
        return shared.has(orderId) ? `${before.heldBy} renews its lease on ${orderId}, at which others were meanwhile` : undefined;
      const writer = writerOf(after);
      if (writer === undefined || writer === before.heldBy) return undefined;
      // Of two whose clocks are apart, one may think that it is over, and the other one that it is not.
      if (before.heldUntil + toleranceMs < now()) shared.add(orderId);
      return before.heldUntil > now() + toleranceMs ? `${writer} writes ${orderId} while ${before.heldBy} has it to himself` : undefined;
    }),
  };
}
