import { type Law, on } from './law.ts';

/** S1, S2: of all who write at the same time one wins; `rev` rises by one, `epoch` never falls, and rises with each claim and each reset. */
export const fence = (): Law => ({
  name: 'fence',
  after: on(['written'], (observation) => {
    const { before, after } = observation;
    const { orderId, rev, epoch } = after;
    if (!before) return rev === 1 ? undefined : `${orderId} begins with rev ${rev}`;
    if (rev !== before.rev + 1) return `${orderId}: rev ${before.rev} is followed by ${rev}`;
    if (epoch < before.epoch) return `${orderId}: epoch falls from ${before.epoch} to ${epoch}`;
    const claimed = after.lockedBy !== null && after.lockedBy !== before.lockedBy;
    const reset = before.processState === 'Processing' && after.processState === 'Pending';
    if (reset && epoch === before.epoch) return `${orderId} is reset without a new epoch`;
    return claimed && epoch === before.epoch ? `${orderId} is claimed without a new epoch` : undefined;
  }),
});
