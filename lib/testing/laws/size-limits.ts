import { limits } from '#core/definition/definition';
import { type Law, on } from './law.ts';

/** The most characters of a message: fewer than the 1 MiB that a queue allows, because a queue counts bytes. */
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
