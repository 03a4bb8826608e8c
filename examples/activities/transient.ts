import { defineWorkflow, retry, sequence, text } from 'redress';
import * as z from 'zod';
import { BankBusy, CardDeclined, customer, payment } from './agents.ts';

export const patient = defineWorkflow(
  'example-transient',
  { version: 1, order: z.object({ total: z.number() }), toOperator: [CardDeclined] },
  ({ order }) =>
    sequence(
      retry(payment.transfer({ amount: order.total }), { retries: 1, intervalSeconds: 20 }),
      customer.tell({ text: 'Thank you.' }),
    ).on(BankBusy, ({ fault }) => customer.tell({ text: text`We shall try again tomorrow: ${fault.message}` })),
);

export const story = `
  start
  -> payment order/retry/transfer key order/retry/transfer/1 attempt 1 with {"amount":40}

  fault order/retry/transfer Transient/BankBusy transient
  .. wake at +20s

  after 20s
  -> payment order/retry/transfer key order/retry/transfer/1 attempt 2 with {"amount":40}

  # The retry has no run left, so the handler runs.

  fault order/retry/transfer Transient/BankBusy transient
  -> customer order/on-BankBusy/tell key order/on-BankBusy/tell/1 attempt 1 with {"text":"We shall try again tomorrow: the agent reports Transient/BankBusy"}

  ok order/on-BankBusy/tell
  == closed
`;

export const body = { total: 40 };
