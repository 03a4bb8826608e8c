import { type Law, on, type Setting } from './law.ts';

/** An order belongs to the client that submitted it. Only senders that are registered for a client submit for it (S19). */
export const ownership = ({ client }: Pick<Setting, 'client'>): Law => ({
  name: 'ownership',
  after: on(['written'], (observation) => {
    // An order that handles the exception of another order belongs to no client, so it is exempt.
    const isHandler = observation.order?.handles !== undefined;
    if (observation.before || isHandler || observation.after.client === client) return undefined;
    return `order ${observation.after.orderId} was created for the client ${observation.after.client} by an unregistered sender`;
  }),
});
