import { defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, inventory, OutOfStock, payment } from './agents.ts';
import { ensure } from './own/ensure.ts';

export const ensured = defineWorkflow(
  'example-ensure',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }), toOperator: [OutOfStock] },
  ({ order }) => {
    const reserve = inventory.reserve({ sku: order.sku });
    const charge = payment.charge({ amount: order.total });

    return sequence(reserve, ensure({}, { do: charge, last: inventory.release({ reservationId: reserve.output.reservationId }) })).on(
      CardDeclined,
      () => customer.tell({ text: 'Your card was declined.' }),
    );
  },
);

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/reserve {"reservationId": "r1"}
  -> payment order/ensure/charge key order/ensure/charge/1 attempt 1 with {"amount":40}

  # The cleanup runs first, then the handler.

  fault order/ensure/charge Refused/CardDeclined permanent
  -> inventory order/ensure/release key order/ensure/release/1 attempt 1 with {"reservationId":"r1"}

  ok order/ensure/release
  -> customer order/on-CardDeclined/tell key order/on-CardDeclined/tell/1 attempt 1 with {"text":"Your card was declined."}

  ok order/on-CardDeclined/tell
  == closed
`;

export const body = { sku: 'tea', total: 40 };
