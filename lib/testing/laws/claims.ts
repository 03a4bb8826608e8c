import { type Law, on } from './law.ts';

/** S1: an order is claimed only while it is nobody's, each time under the next epoch; nothing but a claim or a reset moves the epoch. */
export const claims = (): Law => ({
  name: 'claims',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { orderId, epoch } = after;
    if (epoch === before.epoch) return undefined;
    if (epoch !== before.epoch + 1) return `${orderId}: epoch ${before.epoch} is followed by ${epoch}`;
    const isReset = after.processState === 'Pending' && after.lockedBy === null;
    // Who goes on from the journal where the record cannot be read takes the order over.
    const isRebuilt = history.orders.get(orderId)?.news.some(({ type }) => type === 'InstanceRebuilt');
    if (isReset || isRebuilt || before.lockedBy === null) return undefined;
    return `${orderId} is claimed by ${after.lockedBy} while it belongs to ${before.lockedBy}`;
  }),
});
