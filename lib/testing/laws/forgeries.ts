import { isForged, type Law, on, type Setting } from './law.ts';

/** S3: an answer counts only from the agent that was asked, for the asking that it names, and where it is what its operation answers. */
export const forgeries = (setting: Pick<Setting, 'forgedWord'>): Law => ({
  name: 'forgeries',
  after: on(['written'], ({ after: { orderId } }, history) => {
    const taken = history.orders.get(orderId)?.news.find((line) => isForged(JSON.stringify(line), setting));
    return taken && `${orderId} takes what nobody who was asked has answered: ${JSON.stringify(taken)}`;
  }),
});
