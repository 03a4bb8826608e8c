import { and, atLeast, defineWorkflow, equals, ifTrue, not, sequence } from 'redress';
import * as z from 'zod';
import { customer, OutOfStock, shipping } from './agents.ts';

const Order = z.object({ sku: z.string(), kind: z.enum(['gift', 'purchase']), total: z.number(), pickup: z.boolean() });

export const either = defineWorkflow('example-if-true', { version: 1, order: Order, toOperator: [OutOfStock] }, ({ order }) =>
  sequence(
    ifTrue(not(order.pickup), shipping.ship({ sku: order.sku })),
    ifTrue(
      and(equals(order.kind, 'purchase'), atLeast(order.total, 100)),
      customer.tell({ text: 'Your next order is free.' }),
      customer.tell({ text: 'Thank you.' }).named('thank'),
    ),
  ),
);

export const story = `
  start
  -> shipping order/choice/ship key order/choice/ship/1 attempt 1 with {"sku":"tea"}

  ok order/choice/ship
  -> customer order/choice-2/thank key order/choice-2/thank/1 attempt 1 with {"text":"Thank you."}

  ok order/choice-2/thank
  == closed
`;

export const body = { sku: 'tea', kind: 'gift', total: 40, pickup: false };
