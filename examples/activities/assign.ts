import { assign, cel, defineWorkflow, forEach, sequence, text, variables } from 'redress';
import * as z from 'zod';
import { customer, supplier } from './agents.ts';

const vars = variables<{ total: number }>();

export const added = defineWorkflow('example-assign', { version: 1, order: z.object({ suppliers: z.array(z.string()) }) }, ({ order }) =>
  sequence(
    assign(vars.total, 0),
    forEach(
      order.suppliers,
      (name) => {
        const quote = supplier.quote({ name });
        return sequence(quote, assign(vars.total, cel`${vars.total} + ${quote.output.price}`));
      },
      { maxConcurrency: 1 },
    ),
    customer.tell({ text: text`All together: ${vars.total}` }),
  ),
);

export const story = `
  start
  -> supplier order/suppliers[0]/sequence/quote key order/suppliers[0]/sequence/quote/1 attempt 1 with {"name":"Abel"}

  ok order/suppliers[0]/sequence/quote {"price": 40}
  -> supplier order/suppliers[1]/sequence/quote key order/suppliers[1]/sequence/quote/1 attempt 1 with {"name":"Bea"}

  ok order/suppliers[1]/sequence/quote {"price": 2}
  -> customer order/tell key order/tell/1 attempt 1 with {"text":"All together: 42"}

  ok order/tell
  == closed
`;

export const body = { suppliers: ['Abel', 'Bea'] };
