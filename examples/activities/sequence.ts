import { defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import { inventory, OutOfStock, shipping } from './agents.ts';

export const inOrder = defineWorkflow(
  'example-sequence',
  { version: 1, order: z.object({ sku: z.string() }), toOperator: [OutOfStock] },
  ({ order }) => sequence(inventory.reserve({ sku: order.sku }), shipping.ship({ sku: order.sku })),
);

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/reserve {"reservationId": "r1"}
  -> shipping order/ship key order/ship/1 attempt 1 with {"sku":"tea"}

  ok order/ship
  == closed
`;

export const body = { sku: 'tea' };
