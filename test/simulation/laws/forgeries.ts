import { forgedWord } from '../forgeries.ts';
import { type Law, on } from './law.ts';

/** S3: an answer counts only from the agent that was asked, for the asking that it names, and where it is what its operation answers. */
export const forgeries = (): Law => ({
  name: 'forgeries',
  after: on(['written'], ({ after: { orderId } }, history) => {
    const taken = history.orders.get(orderId)?.news.find((line) => JSON.stringify(line).includes(forgedWord));
    return taken && `${orderId} takes what nobody who was asked has answered: ${JSON.stringify(taken)}`;
  }),
});
