import { type Law, on } from './law.ts';

/** S15: above its threshold, and not before, an order goes into Error, or wherever its workflow says; a person's decision clears the count. */
export const threshold = (): Law => ({
  name: 'threshold',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { orderId, failureCount, maxFailures, onExhausted, processState } = after;
    for (const note of after.notes.slice(before.notes.length)) {
      if (!('failureCount' in note)) continue;
      const late = `${note.failureCount} failures, and may have ${maxFailures}`;
      const isAbove = note.failureCount > maxFailures;
      if (note.type === 'ThresholdExceeded' && !isAbove) return `${orderId} goes into Error for ${late}`;
      if (note.type === 'OrderReset' && isAbove) return `${orderId} is reset after ${late}`;
      if (note.type === 'DeadlineExpired' && isAbove && onExhausted === 'error') return `${orderId} is ${processState} after ${late}`;
    }
    const isInstructed = history.orders
      .get(orderId)
      ?.news.some((fact) => fact.type === 'InstructionGiven' && fact.kind !== 'suspend' && fact.kind !== 'resume');
    return isInstructed && failureCount > 0 ? `${orderId} still counts ${failureCount} failures after a person has decided` : undefined;
  }),
});
