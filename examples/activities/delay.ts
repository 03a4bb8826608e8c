import { cel, defineWorkflow, delay, sequence } from 'redress';
import * as z from 'zod';
import { customer } from './agents.ts';

export const reminder = defineWorkflow('example-delay', { version: 1, order: z.object({ days: z.number() }) }, ({ order }) =>
  sequence(delay({ seconds: cel<number>`${order.days} * 86400.0` }), customer.tell({ text: 'Did your parcel arrive?' })),
);

export const story = `
  start
  .. wake at +86400s

  # An early wake-up changes nothing.

  wake

  after 86400s
  -> customer order/tell key order/tell/1 attempt 1 with {"text":"Did your parcel arrive?"}

  ok order/tell
  == closed
`;

export const body = { days: 1 };
