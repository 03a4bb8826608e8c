import { atMost, defineWorkflow, forEach } from 'redress';
import * as z from 'zod';
import { supplier } from './agents.ts';

export const firstCheapOne = defineWorkflow(
  'example-for-each',
  { version: 1, order: z.object({ suppliers: z.array(z.string()), limit: z.number() }) },
  ({ order }) =>
    forEach(
      order.suppliers,
      (name) => {
        const quote = supplier.quote({ name });
        return { do: quote, until: atMost(quote.output.price, order.limit) };
      },
      { maxConcurrency: 2 },
    ),
);

export const story = `
  start
  -> supplier order/suppliers[0]/quote key order/suppliers[0]/quote/1 attempt 1 with {"name":"Abel"}
  -> supplier order/suppliers[1]/quote key order/suppliers[1]/quote/1 attempt 1 with {"name":"Bea"}

  ok order/suppliers[0]/quote {"price": 120}
  -> supplier order/suppliers[2]/quote key order/suppliers[2]/quote/1 attempt 1 with {"name":"Cy"}

  ok order/suppliers[2]/quote {"price": 90}
  -> supplier order/suppliers[1]/quote cancel

  # The condition holds: the last supplier gets no request, and the second is canceled.

  ok order/suppliers[1]/quote {"price": 80}
  == closed
`;

export const body = { suppliers: ['Abel', 'Bea', 'Cy', 'Dot'], limit: 100 };
