import { limits } from '#core/definition/definition';
import { type Law, on } from './law.ts';

const messageCharactersMax = 900 * 1024;

/** S23: no state and no message is larger than can be stored and sent. */
export const sizes = (): Law => ({
  name: 'sizes',
  after: on(['written', 'sent'], (observation) => {
    if (observation.type === 'written' && observation.after.blob.length > limits.stateBytesMax)
      return `${observation.after.orderId} has a state of ${observation.after.blob.length} characters`;
    if (observation.type === 'sent' && observation.body.length > messageCharactersMax)
      return `a message to ${observation.queue} has ${observation.body.length} characters`;
    return undefined;
  }),
});
