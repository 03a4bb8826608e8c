import { type Law, on } from './law.ts';

/**
 * An order is deleted only after its retention, and not before its caller (S22). A later order with the same submission key has new
 * idempotency keys and new announcement ids (S7, S17).
 */
export const retention = (): Law => ({
  name: 'retention',
  after: on(['forgotten', 'published', 'sent'], (observation, history) => {
    if (observation.type === 'forgotten') {
      const { orderIds, finishedBefore } = observation;
      for (const orderId of orderIds) {
        const { state, caller } = history.orders.get(orderId) ?? {};
        if (state?.processState !== 'Processed') return `order ${orderId} was deleted while it was ${state?.processState}`;
        if (state.updatedAt >= finishedBefore) return `order ${orderId} was deleted before its retention ended`;
        if (caller !== undefined && history.orders.has(caller) && !orderIds.includes(caller))
          return `order ${orderId} was deleted before its caller ${caller}`;
      }
      return undefined;
    }
    if (history.deletedIds.size === 0) return undefined;
    if (observation.type === 'published') {
      const { id } = observation.announcement;
      return history.deletedIds.has(id) ? `announcement ${id} has the id of an announcement of a deleted order` : undefined;
    }
    const key = observation.queue.endsWith('-requests') ? /"idempotencyKey":"([^"]+)"/.exec(observation.body)?.[1] : undefined;
    return key !== undefined && history.deletedIds.has(key)
      ? `idempotency key ${key} was requested again after its order was deleted`
      : undefined;
  }),
});
