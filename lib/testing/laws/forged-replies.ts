import { isForged, type Law, on, type Setting } from './law.ts';

/** A reply counts only if the agent of its request sent it, and if it matches the schema of its operation (S3). */
export const forgedReplies = (setting: Pick<Setting, 'forgedWord'>): Law => ({
  name: 'forged replies',
  after: on(['written'], ({ after: { orderId } }, history) => {
    const accepted = history.orders.get(orderId)?.newFacts.find((line) => isForged(JSON.stringify(line), setting));
    return accepted && `order ${orderId} accepted a forged reply: ${JSON.stringify(accepted)}`;
  }),
});
