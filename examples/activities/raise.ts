import { defineWorkflow, fault, greaterThan, ifTrue, raise, sequence, text } from 'redress';
import * as z from 'zod';
import { customer, shipping } from './agents.ts';

const TooExpensive = fault('TooExpensive');

export const checked = defineWorkflow(
  'example-raise',
  { version: 1, order: z.object({ sku: z.string(), total: z.number() }) },
  ({ order }) =>
    sequence(
      ifTrue(greaterThan(order.total, 1000), raise(TooExpensive, text`${order.total} is more than 1000.`, { total: order.total })),
      shipping.ship({ sku: order.sku }),
    ).on(TooExpensive, ({ fault }) => customer.tell({ text: fault.message })),
);

export const story = `
  start
  -> customer order/on-TooExpensive/tell key order/on-TooExpensive/tell/1 attempt 1 with {"text":"4000 is more than 1000."}

  ok order/on-TooExpensive/tell
  == closed
`;

export const body = { sku: 'gold', total: 4000 };
