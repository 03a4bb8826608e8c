import { limits } from '#core/definition/definition';
import { type Law, on } from './law.ts';

const messageCharactersMax = 900 * 1024;

/** S23: no state and no message is larger than can be stored and sent. */
export const sizes = (): Law => ({
  name: 'sizes',
  after: on(['written', 'sent'], (happening) => {
    if (happening.type === 'written' && happening.after.blob.length > limits.stateBytesMax)
      return `${happening.after.orderId} has a state of ${happening.after.blob.length} characters`;
    if (happening.type === 'sent' && happening.body.length > messageCharactersMax)
      return `a message to ${happening.queue} has ${happening.body.length} characters`;
    return undefined;
  }),
});
