import type { Law, Setting } from './law.ts';

/** At the end every outbox is empty, and every order is finished or blocked (L1, L3). */
export const endState = ({ mayWait }: Pick<Setting, 'mayWait'>): Law => ({
  name: 'end state',
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, state: { processState, outbox } }) => [
      ...(mayWait || history.isSettled(orderId) ? [] : [`order ${orderId} is still ${processState}`]),
      ...outbox.map(({ id }) => `order ${orderId}: outbox entry ${id} was never sent`),
    ]),
});
