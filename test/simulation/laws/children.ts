import type { Law } from './law.ts';

/** F-80, F-100: an order that was called ends with the one that called it, and is undone with it. */
export const children = (): Law => ({
  name: 'children',
  after(happening, history) {
    if (happening.type !== 'written' || happening.after.processState !== 'Processed') return undefined;
    const { orderId, outcome } = happening.after;
    if (outcome === 'terminated') return undefined;
    const alive = history.childrenOf(orderId).find(({ state }) => state.processState !== 'Processed');
    return alive && `${orderId} is ${outcome}, but ${alive.orderId}, which it called, is ${alive.state.processState}`;
  },
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, state: { outcome } }) => {
      if (outcome !== 'compensated' && outcome !== 'cancelled' && outcome !== 'rejected') return [];
      const done = history.childrenOf(orderId).filter(({ state }) => state.outcome === 'completed');
      return done.map((child) => `${orderId} is ${outcome}, but ${child.orderId}, which it called, is completed`);
    }),
});
