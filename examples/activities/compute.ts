import { ComputeFailed, compute, defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, payment } from './agents.ts';

const Items = z.array(z.object({ price: z.int(), quantity: z.int() })).min(1);

/** Three for the price of two: too complex for an expression, and no reason to call a service. */
const price = compute('price', { version: 1, input: z.object({ items: Items }), output: z.object({ amount: z.int() }) }, ({ items }) => ({
  amount: items.reduce((sum, { price, quantity }) => sum + price * (quantity - Math.floor(quantity / 3)), 0),
}));

export const priced = defineWorkflow(
  'example-compute',
  { version: 1, order: z.object({ items: Items }), toOperator: [CardDeclined] },
  ({ order }) => {
    const quote = price({ items: order.items });

    return sequence(quote, payment.charge({ amount: quote.output.amount })).on(ComputeFailed, ({ fault }) =>
      customer.tell({ text: fault.message }),
    );
  },
);

export const story = `
  start
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":55}

  ok order/charge {"chargeId": "c1"}
  == closed
`;

export const body = {
  items: [
    { price: 10, quantity: 7 },
    { price: 5, quantity: 1 },
  ],
};
