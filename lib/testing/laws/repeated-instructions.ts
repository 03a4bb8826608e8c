import { type Law, on } from './law.ts';

/** A repetition of an applied instruction under its key is answered as replayed, as long as the order exists (S10). */
export const repeatedInstructions = (): Law => ({
  name: 'repeated instructions',
  after: on(['repeated'], (observation, history) => {
    if (observation.outcome === 'replayed') return undefined;
    // A damaged record has lost its keys, and the order is compensated from its journal in any case.
    if (history.orders.get(observation.orderId)?.damagedAt !== undefined) return undefined;
    return `order ${observation.orderId}: the repeated instruction ${observation.key} was answered ${observation.outcome}, expected replayed`;
  }),
});
