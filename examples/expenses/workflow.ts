import { defineAgent, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';

const Payment = z.object({ employeeId: z.int(), amount: z.int() });

/** A stand-in for a bank: an id is the idempotency key, so a repeated request gets the same answer. */
export const bank = defineAgent('bank', {
  pay: operation({
    input: Payment,
    output: z.object({ paymentId: z.string() }),
    run: (_, { idempotencyKey }) => ({ paymentId: `payment-${idempotencyKey}` }),
  }),
});

export const reimburse = defineWorkflow('reimburse', { version: 1, order: Payment }, ({ order }) =>
  sequence(bank.pay({ employeeId: order.employeeId, amount: order.amount }).noUndo()),
);
