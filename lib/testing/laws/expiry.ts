import { type Law, on, type Setting } from './law.ts';

const counting: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/**
 * An expired deadline counts once, however many supervisors look. It never counts early, or while a host holds a lease on the order
 * (S15, S16).
 */
export function expiry({ toleranceMs }: Setting): Law {
  const counted = new Set<string>();
  return {
    name: 'expiry',
    after: on(['written'], (observation) => {
      if (!observation.before) return undefined;
      const { before, after } = observation;
      const { orderId, failureCount } = after;
      const notes = after.notes.slice(before.notes.length).filter(({ type }) => counting.has(type));
      if (notes.length > 1 || (notes.length === 0 && failureCount > before.failureCount))
        return `order ${orderId}: failureCount went from ${before.failureCount} to ${failureCount} with ${notes.length} expiries in one write`;
      // The time at which the supervisor found the expiry. Its clock may have been set back before the write.
      const foundAt = notes[0]?.at;
      if (foundAt === undefined) return undefined;
      const due = `${orderId} ${before.epoch} ${before.nextDueFor?.path ?? ''} ${before.nextDueAt}`;
      if (counted.has(due)) return `order ${orderId}: the same expiry was counted twice: ${due}`;
      counted.add(due);
      if (before.heldUntil !== null && before.heldUntil > foundAt)
        return `order ${orderId}: an expiry was counted while ${before.heldBy} held the lease`;
      if (before.nextDueAt !== null && before.nextDueAt + toleranceMs > foundAt)
        return `order ${orderId}: an expiry was counted before its deadline and the clock tolerance`;
      return undefined;
    }),
  };
}
