import { DeadlineExceeded, defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import { CardDeclined, customer, payment } from './agents.ts';

export const inTime = defineWorkflow(
  'example-within',
  { version: 1, order: z.object({ total: z.number() }), toOperator: [CardDeclined] },
  ({ order }) =>
    sequence(
      payment
        .charge({ amount: order.total })
        .within(45)
        .undo(({ chargeId }) => payment.refund({ chargeId })),
      customer.tell({ text: 'Thank you.' }),
    ).on(DeadlineExceeded, ({ compensate }) => sequence(compensate(), customer.tell({ text: 'We could not charge your card in time.' }))),
);

export const story = `
  start
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  # No reply arrives. The second attempt has the rest of the 45 seconds.

  after 30s

  expire
  -> payment order/charge key order/charge/1 attempt 2 by +15s with {"amount":40}

  after 15s
  -> payment order/charge key order/charge/1 attempt 3 confirming with {"amount":40}

  # Nobody knows whether the charge happened, so attempt 3 asks the service under the same key. It answers: yes.

  ok order/charge {"chargeId": "c1"}
  -> payment order/charge/undo key order/charge/undo/1 attempt 1 with {"chargeId":"c1"}

  ok order/charge/undo
  -> customer order/on-DeadlineExceeded/tell key order/on-DeadlineExceeded/tell/1 attempt 1 with {"text":"We could not charge your card in time."}

  ok order/on-DeadlineExceeded/tell
  == compensated
`;

export const body = { total: 40 };
