import { type Law, on } from './law.ts';

/** One of several concurrent writes wins. `rev` rises by one; `epoch` never falls, and rises with each claim and each reset (S1, S2). */
export const fence = (): Law => ({
  name: 'fence',
  after: on(['written'], (observation) => {
    const { before, after } = observation;
    const { orderId, rev, epoch } = after;
    if (!before) return rev === 1 ? undefined : `order ${orderId} began with rev ${rev}`;
    if (rev !== before.rev + 1) return `order ${orderId}: rev ${before.rev} was followed by ${rev}`;
    if (epoch < before.epoch) return `order ${orderId}: epoch fell from ${before.epoch} to ${epoch}`;
    const claimed = after.lockedBy !== null && after.lockedBy !== before.lockedBy;
    const reset = before.processState === 'Processing' && after.processState === 'Pending';
    if (reset && epoch === before.epoch) return `order ${orderId} was reset without a new epoch`;
    return claimed && epoch === before.epoch ? `order ${orderId} was claimed without a new epoch` : undefined;
  }),
});
