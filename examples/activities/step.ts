import { defineWorkflow } from 'redress';
import * as z from 'zod';
import { CardDeclined, payment } from './agents.ts';

export const step = defineWorkflow(
  'example-step',
  { version: 1, order: z.object({ total: z.number() }), toOperator: [CardDeclined] },
  ({ order }) => payment.charge({ amount: order.total }).undo(({ chargeId }) => payment.refund({ chargeId })),
);

export const story = `
  start
  -> payment order/charge key order/charge/1 attempt 1 with {"amount":40}

  # The service cannot be reached. The step waits for its time limit, and is requested again under the same key.

  fault order/charge ServiceDown transient

  after 30s

  expire
  -> payment order/charge key order/charge/1 attempt 2 with {"amount":40}

  fault order/charge Refused/CardDeclined permanent
  == blocked order/charge Refused/CardDeclined

  # A new card: this is another effect, so it has another key.

  resubmit
  -> payment order/charge key order/charge/2 attempt 3 with {"amount":40}
  == unblocked

  cancel
  -> payment order/charge cancel

  # The canceled step was done, so it is undone.

  ok order/charge {"chargeId": "c1"}
  -> payment order/charge/undo key order/charge/undo/2 attempt 1 with {"chargeId":"c1"}

  ok order/charge/undo
  == canceled
`;

export const body = { total: 40 };
