import { AnyFault, defineWorkflow, scope, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, payment, Refused } from './agents.ts';

export const whatever = defineWorkflow('example-any-fault', { version: 1, order: z.object({ total: z.number() }) }, ({ order }) =>
  sequence(
    scope('paid', payment.charge({ amount: order.total })).on(Refused, ({ rethrow }) =>
      sequence(customer.tell({ text: 'The bank refuses it.' }), rethrow()),
    ),
  )
    .on(CardDeclined, () => customer.tell({ text: 'Your card was declined.' }))
    .on(AnyFault, ({ compensate }) => sequence(compensate(), customer.tell({ text: 'Something went wrong on our side.' }))),
);

export const story = `
  start
  -> payment order/paid/charge key order/paid/charge/1 attempt 1 with {"amount":40}

  fault order/paid/charge Refused/CardDeclined permanent
  -> customer order/paid/on-Refused/tell key order/paid/on-Refused/tell/1 attempt 1 with {"text":"The bank refuses it."}

  # The fault is raised again unchanged: a declined card, at the charge.

  ok order/paid/on-Refused/tell
  -> customer order/on-CardDeclined/tell key order/on-CardDeclined/tell/1 attempt 1 with {"text":"Your card was declined."}

  ok order/on-CardDeclined/tell
  == closed
`;

export const body = { total: 40 };
