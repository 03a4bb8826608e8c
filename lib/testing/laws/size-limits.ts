import { limits } from '#core/definition/definition';
import { type Law, on } from './law.ts';

/** Less than the limit of a queue, 1 MiB: the limit counts bytes, and this law counts characters. */
const messageCharactersMax = 900 * 1024;

/** Every state fits into the store, and every message into a queue (S23). */
export const sizeLimits = (): Law => ({
  name: 'size limits',
  after: on(['written', 'sent'], (observation) => {
    if (observation.type === 'written' && observation.after.blob.length > limits.stateBytesMax)
      return `order ${observation.after.orderId}: its state has ${observation.after.blob.length} characters`;
    if (observation.type === 'sent' && observation.body.length > messageCharactersMax)
      return `queue ${observation.queue}: a message has ${observation.body.length} characters`;
    return undefined;
  }),
});
