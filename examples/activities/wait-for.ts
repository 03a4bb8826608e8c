import { choice, defineWorkflow, NoSignal, otherwise, sequence, waitFor, when } from 'redress';
import * as z from 'zod';
import { customer, shipping } from './agents.ts';

/** A clerk at the counter has checked the passport. */
export const identified = waitFor('identified', z.object({ adult: z.boolean() }), { withinSeconds: 172_800 });

export const whenIdentified = defineWorkflow('example-wait-for', { version: 1, order: z.object({ sku: z.string() }) }, ({ order }) =>
  sequence(
    identified,
    choice(when(identified.output.adult, shipping.ship({ sku: order.sku })), otherwise(customer.tell({ text: 'You are too young.' }))),
  ).on(NoSignal, () => customer.tell({ text: 'You did not show your papers in time, so we do not ship your order.' })),
);

export const story = `
  start
  .. wake at +172800s

  # A signal with another name is kept for a later wait.

  signal paid

  signal identified {"adult": true}
  -> shipping order/choice/ship key order/choice/ship/1 attempt 1 with {"sku":"wine"}

  ok order/choice/ship
  == closed
`;

export const body = { sku: 'wine' };
