import { type Law, on } from './law.ts';

/** S10: a call that was carried out is known again under its key, as long as its order exists. */
export const repetitions = (): Law => ({
  name: 'repetitions',
  after: on(['repeated'], (happening, history) => {
    if (happening.outcome === 'replayed') return undefined;
    // Where the record is lost, so are the keys in it: an order that is undone by its journal is undone all the same.
    if (history.orders.get(happening.orderId)?.damagedAt !== undefined) return undefined;
    return `${happening.key} to ${happening.orderId} was carried out, comes again, and is answered: ${happening.outcome}`;
  }),
});
