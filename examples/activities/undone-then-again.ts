import { defineWorkflow, retry, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, inventory, payment, Refused } from './agents.ts';

export const undoneThenAgain = defineWorkflow(
  'example-undone-then-again',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }) },
  ({ order }) => {
    const reserve = inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId }));
    const charge = payment.charge({ amount: order.total }).undo(({ chargeId }) => payment.refund({ chargeId }));

    return retry(sequence(reserve, charge), { retries: 1, intervalSeconds: 3600, only: [CardDeclined], undoFirst: true }).on(
      Refused,
      ({ compensate }) => sequence(compensate(), customer.tell({ text: 'We could not take your order.' })),
    );
  },
);

export const story = `
  start
  -> inventory order/sequence/reserve key order/sequence/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/sequence/reserve {"reservationId": "r1"}
  -> payment order/sequence/charge key order/sequence/charge/1 attempt 1 with {"amount":40}

  # The retry handles this fault. First it undoes the run, then it waits, then it begins the next run with new keys.

  fault order/sequence/charge Refused/CardDeclined permanent
  -> inventory order/sequence/reserve/undo key order/sequence/reserve/undo/1 attempt 1 with {"reservationId":"r1"}

  ok order/sequence/reserve/undo
  .. wake at +3600s

  after 3600s
  -> inventory order/sequence/reserve key order/sequence/reserve/2 attempt 1 with {"sku":"tea"}

  ok order/sequence/reserve {"reservationId": "r2"}
  -> payment order/sequence/charge key order/sequence/charge/2 attempt 1 with {"amount":40}

  # No run is left, so the handler runs.

  fault order/sequence/charge Refused/CardDeclined permanent
  -> inventory order/sequence/reserve/undo key order/sequence/reserve/undo/2 attempt 1 with {"reservationId":"r2"}

  ok order/sequence/reserve/undo
  -> customer order/on-Refused/tell key order/on-Refused/tell/1 attempt 1 with {"text":"We could not take your order."}

  ok order/on-Refused/tell
  == compensated
`;

export const body = { sku: 'tea', total: 40 };
