import { defineWorkflow, parallel } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, inventory, OutOfStock, payment } from './agents.ts';

export const sideBySide = defineWorkflow(
  'example-parallel',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }), toOperator: [OutOfStock] },
  ({ order }) =>
    parallel(
      inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId })),
      payment.charge({ amount: order.total }),
    ).on(CardDeclined, () => customer.tell({ text: 'Your card was declined.' })),
);

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"tea"}
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  fault order/charge Refused/CardDeclined permanent
  -> inventory order/reserve cancel

  # The handler waits until the other branch is closed. The canceled branch has had an effect, which is undone.

  ok order/reserve {"reservationId": "r1"}
  -> inventory order/reserve/undo key order/reserve/undo/1 attempt 1 with {"reservationId":"r1"}

  ok order/reserve/undo
  -> customer order/on-CardDeclined/tell key order/on-CardDeclined/tell/1 attempt 1 with {"text":"Your card was declined."}

  ok order/on-CardDeclined/tell
  == closed
`;

export const body = { sku: 'tea', total: 40 };
