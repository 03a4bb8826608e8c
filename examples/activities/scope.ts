import { defineWorkflow, scope, sequence } from 'redress';
import * as z from 'zod';
import { customer, inventory, OutOfStock, shipping } from './agents.ts';

export const withOptionalGift = defineWorkflow('example-scope', { version: 1, order: z.object({ sku: z.string() }) }, ({ order }) =>
  sequence(
    scope('gift', inventory.reserve({ sku: 'ribbon' })).on(OutOfStock, ({ fault }) => customer.tell({ text: fault.message })),
    shipping.ship({ sku: order.sku }),
  ),
);

export const story = `
  start
  -> inventory order/gift/reserve key order/gift/reserve/1 attempt 1 with {"sku":"ribbon"}

  fault order/gift/reserve Refused/OutOfStock permanent
  -> customer order/gift/on-OutOfStock/tell key order/gift/on-OutOfStock/tell/1 attempt 1 with {"text":"the agent reports Refused/OutOfStock"}

  # The order continues after the scope.

  ok order/gift/on-OutOfStock/tell
  -> shipping order/ship key order/ship/1 attempt 1 with {"sku":"tea"}

  ok order/ship
  == closed
`;

export const body = { sku: 'tea' };
