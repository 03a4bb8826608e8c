import type { ProcessState } from '#ports/records';
import { type Law, on } from './law.ts';

const next: { readonly [state in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Processing', 'Error', 'Processed'],
  Processing: ['Pending', 'Processed', 'Error'],
  Error: ['Processing', 'Processed'],
  Processed: [],
};

/** S4: an order goes from state to state as the table says. Only what was called and completed may be taken back afterwards. */
export const processState = (): Law => ({
  name: 'process state',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const [from, to] = [before.processState, after.processState];
    const isRecalled = before.outcome === 'completed' && history.orders.get(after.orderId)?.caller !== undefined;
    if (from === to)
      return from === 'Processed' && before.outcome !== after.outcome && !isRecalled ? `${after.orderId} has a second outcome` : undefined;
    if (next[from].includes(to) || (from === 'Processed' && isRecalled)) return undefined;
    return `${after.orderId} goes from ${from} to ${to}`;
  }),
});
