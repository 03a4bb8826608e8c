import type { Law, Setting } from './law.ts';

/** L1, L3: at the end nothing is left to be told, and every order is finished or in front of a person. */
export const end = ({ mayWait }: Pick<Setting, 'mayWait'>): Law => ({
  name: 'end',
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, state: { processState, outbox } }) => [
      ...(mayWait || history.isSettled(orderId) ? [] : [`${orderId} is still ${processState}`]),
      ...outbox.map(({ id }) => `${orderId} has not sent ${id}`),
    ]),
});
