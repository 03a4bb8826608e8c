import { type Law, on, type Setting } from './law.ts';

const counting: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/** S15, S16: an expiry counts once, never before its time, not while somebody has the order, however many supervisors look. */
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
        return `${orderId} has ${before.failureCount} failures, ${notes.length} more are counted, and it has ${failureCount}`;
      // When it was found to be late: until it is written its clock may have been set back.
      const foundAt = notes[0]?.at;
      if (foundAt === undefined) return undefined;
      const due = `${orderId} ${before.epoch} ${before.nextDueFor?.path ?? ''} ${before.nextDueAt}`;
      if (counted.has(due)) return `${orderId} counts the same expiry twice: ${due}`;
      counted.add(due);
      if (before.heldUntil !== null && before.heldUntil > foundAt)
        return `${orderId} counts an expiry while ${before.heldBy} has it to himself`;
      if (before.nextDueAt !== null && before.nextDueAt + toleranceMs > foundAt) return `${orderId} counts an expiry before its time`;
      return undefined;
    }),
  };
}
