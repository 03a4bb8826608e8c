import type { Law } from './law.ts';

/** S9, S22: what was accepted is stored, and stays. */
export const kept = (): Law => ({
  name: 'kept',
  after(happening, history) {
    if (happening.type !== 'submitted' || happening.outcome !== 'accepted') return undefined;
    return history.orders.has(happening.orderId) ? undefined : `${happening.orderId} was accepted, but is not stored`;
  },
});
