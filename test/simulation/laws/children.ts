import type { History } from '../history.ts';
import { type Law, on } from './law.ts';

/** F-80, F-100: an order that was called ends with the one that called it, and is undone with it. */
export const children = (): Law => ({
  name: 'children',
  after: on(['written'], (happening, history) => {
    const { orderId } = happening.after;
    const caller = history.orders.get(orderId)?.caller;
    return outlived(orderId, history) ?? (caller === undefined ? undefined : outlived(caller, history));
  }),
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, damagedAt, journal, state: { outcome } }) => {
      // What nobody can read is not taken back, but a person sees to it.
      const isSeenTo = journal.some(({ type }) => type === 'MarkedCompensated');
      if (damagedAt !== undefined) return [];
      if (outcome !== 'compensated' && outcome !== 'cancelled' && outcome !== 'rejected') return [];
      const done = history
        .childrenOf(orderId)
        .filter(({ damagedAt: at, state }) => state.outcome === 'completed' && (at === undefined || !isSeenTo));
      return done.map((child) => `${orderId} is ${outcome}, but ${child.orderId}, which it called, is completed`);
    }),
});

/** Who is terminated waits for nobody: what he called is cancelled, and is through with that later. */
function outlived(orderId: string, history: History): string | undefined {
  const order = history.orders.get(orderId);
  const { processState, outcome } = order?.state ?? {};
  if (processState !== 'Processed' || outcome === 'terminated') return undefined;
  // What it had called nobody could read any more.
  if (order?.damagedAt !== undefined) return undefined;
  // A person has said that it is seen to: whoever goes on with it is his business.
  if (order?.journal.some(({ type }) => type === 'MarkedCompensated')) return undefined;
  const alive = history.childrenOf(orderId).find(({ state }) => state.processState !== 'Processed');
  return alive && `${orderId} is ${outcome}, but ${alive.orderId}, which it called, is ${alive.state.processState}`;
}
