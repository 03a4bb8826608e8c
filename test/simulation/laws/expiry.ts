import type { StateRecord } from '../../../lib/record.ts';
import type { History } from '../history.ts';
import { type Law, on, type Times } from './law.ts';

const counting: ReadonlySet<string> = new Set(['DeadlineExpired', 'OrderReset', 'ThresholdExceeded']);

/** S15, S16: an expiry counts once, never before its time, not while somebody has the order, however many supervisors look. */
export function expiry({ toleranceMs }: Times): Law {
  const counted = new Set<string>();
  return {
    name: 'expiry',
    after: on(['written'], (happening, history) => {
      if (!happening.before) return undefined;
      const { before, after } = happening;
      const { orderId, failureCount } = after;
      const notes = after.notes.slice(before.notes.length).filter(({ type }) => counting.has(type));
      if (failureCount !== before.failureCount + notes.length && !isCleared(before, after, history))
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

/** By a person, by what the workflow says of steps that are late for good, or because the whole order is taken back. */
function isCleared(before: StateRecord, { orderId, failureCount, onExhausted }: StateRecord, history: History): boolean {
  if (failureCount !== 0) return false;
  const isInstructed = history.orders.get(orderId)?.news.some(({ type }) => type === 'InstructionGiven');
  const isDealtWith = before.failureCount > before.maxFailures && (onExhausted === 'fault' || onExhausted === 'undo');
  return isInstructed === true || isDealtWith || before.outcome === 'completed';
}
