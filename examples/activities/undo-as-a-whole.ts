import { defineWorkflow, parallel, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, inventory, OutOfStock, payment } from './agents.ts';

export const packed = defineWorkflow(
  'example-undo-as-a-whole',
  { version: 1, order: z.object({ basket: z.string(), total: z.number() }), toOperator: [OutOfStock] },
  ({ order }) => {
    const reserve = (sku: string) => inventory.reserve({ sku }).undo(({ reservationId }) => inventory.release({ reservationId }));

    const pack = parallel(reserve('tea').named('tea'), reserve('cup').named('cup')).undo(inventory.unpack({ basket: order.basket }));

    return sequence(pack, payment.charge({ amount: order.total })).on(CardDeclined, ({ compensate }) =>
      sequence(compensate(), customer.tell({ text: 'Your card was declined.' })),
    );
  },
);

export const story = `
  start
  -> inventory order/parallel/tea key order/parallel/tea/1 attempt 1 with {"sku":"tea"}
  -> inventory order/parallel/cup key order/parallel/cup/1 attempt 1 with {"sku":"cup"}

  ok order/parallel/tea {"reservationId": "r1"}

  ok order/parallel/cup {"reservationId": "r2"}
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  # One undo releases both reservations, instead of one undo each.

  fault order/charge Refused/CardDeclined permanent
  -> inventory order/parallel/undo key order/parallel/undo/1 attempt 1 with {"basket":"b-17"}

  ok order/parallel/undo
  -> customer order/on-CardDeclined/tell key order/on-CardDeclined/tell/1 attempt 1 with {"text":"Your card was declined."}

  ok order/on-CardDeclined/tell
  == compensated
`;

export const body = { basket: 'b-17', total: 40 };
