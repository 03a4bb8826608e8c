import { type Law, on } from './law.ts';

/** S10: a call that was carried out is known again under its key, as long as its order exists. */
export const repetitions = (): Law => ({
  name: 'repetitions',
  after: on(['repeated'], (observation, history) => {
    if (observation.outcome === 'replayed') return undefined;
    // Where the record is lost, so are the keys in it: an order that is undone by its journal is undone all the same.
    if (history.orders.get(observation.orderId)?.damagedAt !== undefined) return undefined;
    return `${observation.key} to ${observation.orderId} was carried out, comes again, and is answered: ${observation.outcome}`;
  }),
});
