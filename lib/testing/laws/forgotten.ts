import { type Law, on } from './law.ts';

/**
 * S22, S7, S17: an order is forgotten when its time is over, and never before the one that called it; an order that is submitted under
 * its key afterwards asks services for effects under keys of its own, and is told of under ids of its own.
 */
export const forgotten = (): Law => ({
  name: 'forgotten',
  after: on(['forgotten', 'published', 'sent'], (observation, history) => {
    if (observation.type === 'forgotten') {
      const { orderIds, finishedBefore } = observation;
      for (const orderId of orderIds) {
        const { state, caller } = history.orders.get(orderId) ?? {};
        if (state?.processState !== 'Processed') return `${orderId} is forgotten, and it is ${state?.processState}`;
        if (state.updatedAt >= finishedBefore) return `${orderId} is forgotten too soon`;
        if (caller !== undefined && history.orders.has(caller) && !orderIds.includes(caller))
          return `${orderId} is forgotten before ${caller}, which called it`;
      }
      return undefined;
    }
    if (history.former.size === 0) return undefined;
    if (observation.type === 'published') {
      const { id } = observation.announcement;
      return history.former.has(id) ? `${id} was announced of an order that is forgotten` : undefined;
    }
    const key = observation.queue.endsWith('-requests') ? /"idempotencyKey":"([^"]+)"/.exec(observation.body)?.[1] : undefined;
    return key !== undefined && history.former.has(key) ? `${key} is asked for, and was done for an order that is forgotten` : undefined;
  }),
});
