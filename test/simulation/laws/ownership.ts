import { clientName } from '../outside.ts';
import type { Law } from './law.ts';

/** S19: an order belongs to who submitted it; nobody speaks for a client that has not let him. */
export const ownership = (): Law => ({
  name: 'ownership',
  after(happening) {
    if (happening.type !== 'written' || happening.before || happening.after.client === clientName) return undefined;
    return `${happening.after.orderId} was made for ${happening.after.client}, by somebody who may not speak for it`;
  },
});
