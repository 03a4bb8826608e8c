import { type Law, on } from './law.ts';

/** An order is claimed only while no host owns it, each time under the next epoch. Only a claim or a reset changes the epoch (S1). */
export const claims = (): Law => ({
  name: 'claims',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { orderId, epoch } = after;
    if (epoch === before.epoch) return undefined;
    if (epoch !== before.epoch + 1) return `order ${orderId}: epoch ${before.epoch} was followed by ${epoch}`;
    const isReset = after.processState === 'Pending' && after.lockedBy === null;
    // A host that rebuilds an unreadable record from its journal takes the order over.
    const isRebuilt = history.orders.get(orderId)?.newFacts.some(({ type }) => type === 'InstanceRebuilt');
    if (isReset || isRebuilt || before.lockedBy === null) return undefined;
    return `order ${orderId} was claimed by ${after.lockedBy} while ${before.lockedBy} owned it`;
  }),
});
