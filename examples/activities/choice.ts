import { choice, defineWorkflow, greaterThan, otherwise, when } from 'redress';
import * as z from 'zod';
import { customer, inventory, OutOfStock, shipping } from './agents.ts';

export const oneOf = defineWorkflow(
  'example-choice',
  { version: 1, order: z.object({ sku: z.string(), digital: z.boolean(), weight: z.number() }), toOperator: [OutOfStock] },
  ({ order }) =>
    choice(
      when(order.digital, customer.tell({ text: 'Here is your download.' })),
      when(greaterThan(order.weight, 20), inventory.reserve({ sku: 'van' })),
      otherwise(shipping.ship({ sku: order.sku })),
    ),
);

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"van"}

  ok order/reserve {"reservationId": "r1"}
  == closed
`;

export const body = { sku: 'anvil', digital: false, weight: 30 };
