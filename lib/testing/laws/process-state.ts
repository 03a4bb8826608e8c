import type { ProcessState } from '#ports/records';
import { type Law, on } from './law.ts';

const next: { readonly [state in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Processing', 'Error', 'Processed'],
  Processing: ['Pending', 'Processed', 'Error'],
  Error: ['Processing', 'Processed'],
  Processed: [],
};

/** An order changes its state only as the table allows. Only a completed called order may be compensated afterwards (S4). */
export const processState = (): Law => ({
  name: 'process state',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const [from, to] = [before.processState, after.processState];
    const mayBeCompensatedByCaller = before.outcome === 'completed' && history.orders.get(after.orderId)?.caller !== undefined;
    if (from === to)
      return from === 'Processed' && before.outcome !== after.outcome && !mayBeCompensatedByCaller
        ? `order ${after.orderId} changed its outcome from ${before.outcome} to ${after.outcome}`
        : undefined;
    if (next[from].includes(to) || (from === 'Processed' && mayBeCompensatedByCaller)) return undefined;
    return `order ${after.orderId} went from ${from} to ${to}`;
  }),
});
