import { keepsCounts } from './failure-counts.ts';
import { type Law, on } from './law.ts';

/**
 * An order goes into Error, or to the end that its workflow chooses, exactly above `maxFailures`. An instruction resets the count, unless it
 * is one of `keepsCounts` (S15).
 */
export const failureThreshold = (): Law => ({
  name: 'failure threshold',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { orderId, failureCount, maxFailures, onExhausted, processState } = after;
    for (const note of after.notes.slice(before.notes.length)) {
      if (!('failureCount' in note)) continue;
      const late = `${note.failureCount} failures, allowed ${maxFailures}`;
      const isAbove = note.failureCount > maxFailures;
      if (note.type === 'ThresholdExceeded' && !isAbove) return `order ${orderId} went into Error after ${late}`;
      if (note.type === 'OrderReset' && isAbove) return `order ${orderId} was reset after ${late}`;
      if (note.type === 'DeadlineExpired' && isAbove && onExhausted === 'error') return `order ${orderId} is ${processState} after ${late}`;
    }
    const isInstructed = history.orders
      .get(orderId)
      ?.newFacts.some((fact) => fact.type === 'InstructionGiven' && !keepsCounts.has(fact.kind));
    return isInstructed && failureCount > 0 ? `order ${orderId} still has ${failureCount} failures after an instruction` : undefined;
  }),
});
