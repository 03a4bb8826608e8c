import { defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import { customer, inventory, payment, Refused, shipping } from './agents.ts';

export const takenBack = defineWorkflow(
  'example-compensate',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }) },
  ({ order }) => {
    const reserve = inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId }));
    const charge = payment.charge({ amount: order.total }).undo(({ chargeId }) => payment.refund({ chargeId }));

    return sequence(reserve, charge, shipping.ship({ sku: order.sku })).on(Refused, ({ compensate }) =>
      sequence(compensate(), customer.tell({ text: 'We could not take your order.' })),
    );
  },
);

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/reserve {"reservationId": "r1"}
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  fault order/charge Refused/CardDeclined permanent
  -> inventory order/reserve/undo key order/reserve/undo/1 attempt 1 with {"reservationId":"r1"}

  # An undo that fails is repeated until it succeeds.

  fault order/reserve/undo ServiceDown transient

  after 6s
  -> inventory order/reserve/undo key order/reserve/undo/1 attempt 2 with {"reservationId":"r1"}

  ok order/reserve/undo
  -> customer order/on-Refused/tell key order/on-Refused/tell/1 attempt 1 with {"text":"We could not take your order."}

  ok order/on-Refused/tell
  == compensated
`;

export const body = { sku: 'tea', total: 40 };
