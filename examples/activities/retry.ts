import { defineWorkflow, retry } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, payment, Refused } from './agents.ts';

export const again = defineWorkflow('example-retry', { version: 1, order: z.object({ total: z.number() }) }, ({ order }) =>
  retry(payment.charge({ amount: order.total }), { retries: 2, intervalSeconds: 20, except: [CardDeclined] }).on(Refused, () =>
    customer.tell({ text: 'We could not charge your card.' }),
  ),
);

export const story = `
  start
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  fault order/charge ServiceDown transient
  .. wake at +20s

  after 20s
  -> payment order/charge key order/charge/1 attempt 2 with {"amount":40}

  # A fault that the retry excepts goes to its handlers at once.

  fault order/charge Refused/CardDeclined permanent
  -> customer order/on-Refused/tell key order/on-Refused/tell/1 attempt 1 with {"text":"We could not charge your card."}

  ok order/on-Refused/tell
  == closed
`;

export const body = { total: 40 };
