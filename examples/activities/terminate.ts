import { defineWorkflow, equals, ifTrue, sequence, terminate } from 'redress';
import * as z from 'zod';
import { shipping } from './agents.ts';

export const given = defineWorkflow(
  'example-terminate',
  { version: 1, order: z.object({ sku: z.string(), quantity: z.number() }) },
  ({ order }) => sequence(ifTrue(equals(order.quantity, 0), terminate()), shipping.ship({ sku: order.sku })),
);

export const story = `
  start
  == terminated
`;

export const body = { sku: 'tea', quantity: 0 };
