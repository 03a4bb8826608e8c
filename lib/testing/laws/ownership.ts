import { type Law, on, type Setting } from './law.ts';

/** S19: an order belongs to who submitted it; nobody speaks for a client that has not let him. */
export const ownership = ({ client }: Pick<Setting, 'client'>): Law => ({
  name: 'ownership',
  after: on(['written'], (observation) => {
    if (observation.before || observation.after.client === client) return undefined;
    return `${observation.after.orderId} was made for ${observation.after.client}, by somebody who may not speak for it`;
  }),
});
