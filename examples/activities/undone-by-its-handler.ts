import { defineWorkflow, retry, scope, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, inventory, payment, Refused } from './agents.ts';

export const undoneByItsHandler = defineWorkflow(
  'example-undone-by-its-handler',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }) },
  ({ order }) => {
    const reserve = inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId }));
    const charge = payment.charge({ amount: order.total }).undo(({ chargeId }) => payment.refund({ chargeId }));
    const tell = customer.tell({ text: 'Your card was declined.' }).noUndo();

    const attempt = sequence(reserve, charge).on(CardDeclined, ({ compensate, rethrow }) => sequence(compensate(), tell, rethrow()));
    return retry(scope('attempt', attempt), { retries: 1, intervalSeconds: 3600, only: [CardDeclined] }).on(Refused, () =>
      customer.tell({ text: 'We could not take your order.' }),
    );
  },
);

export const story = `
  start
  -> inventory order/attempt/sequence/reserve key order/attempt/sequence/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/attempt/sequence/reserve {"reservationId": "r1"}
  -> payment order/attempt/sequence/charge key order/attempt/sequence/charge/1 attempt 1 with {"amount":40}

  # The handler of each run undoes the run, does more, and raises the fault again for the retry.

  fault order/attempt/sequence/charge Refused/CardDeclined permanent
  -> inventory order/attempt/sequence/reserve/undo key order/attempt/sequence/reserve/undo/1 attempt 1 with {"reservationId":"r1"}

  ok order/attempt/sequence/reserve/undo
  -> customer order/attempt/sequence/on-CardDeclined/tell key order/attempt/sequence/on-CardDeclined/tell/1 attempt 1 with {"text":"Your card was declined."}

  ok order/attempt/sequence/on-CardDeclined/tell
  .. wake at +3600s

  after 3600s
  -> inventory order/attempt/sequence/reserve key order/attempt/sequence/reserve/2 attempt 1 with {"sku":"tea"}

  ok order/attempt/sequence/reserve {"reservationId": "r2"}
  -> payment order/attempt/sequence/charge key order/attempt/sequence/charge/2 attempt 1 with {"amount":40}

  # No run is left: the fault that the handler of the last run raises again goes to the handler of the retry.

  fault order/attempt/sequence/charge Refused/CardDeclined permanent
  -> inventory order/attempt/sequence/reserve/undo key order/attempt/sequence/reserve/undo/2 attempt 1 with {"reservationId":"r2"}

  ok order/attempt/sequence/reserve/undo
  -> customer order/on-Refused/tell key order/on-Refused/tell/1 attempt 1 with {"text":"We could not take your order."}

  ok order/on-Refused/tell
  == closed
`;

export const body = { sku: 'tea', total: 40 };
