import { clientName } from '../outside.ts';
import { type Law, on } from './law.ts';

/** S19: an order belongs to who submitted it; nobody speaks for a client that has not let him. */
export const ownership = (): Law => ({
  name: 'ownership',
  after: on(['written'], (happening) => {
    if (happening.before || happening.after.client === clientName) return undefined;
    return `${happening.after.orderId} was made for ${happening.after.client}, by somebody who may not speak for it`;
  }),
});
