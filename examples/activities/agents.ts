import { defineAgent, fault, operation, TransientFault } from 'redress';
import * as z from 'zod';

/** A service refused. */
export const Refused = fault('Refused');
export const CardDeclined = fault('CardDeclined', Refused);
export const OutOfStock = fault('OutOfStock', Refused);
/** A temporary refusal: the bank is closing its books. */
export const BankBusy = fault('BankBusy', TransientFault);

const Text = z.string().min(1);
const Nothing = z.object({});

// These agents only return sample data. `examples/orders` has agents that call real services.

export const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ sku: Text }),
    output: z.object({ reservationId: Text }),
    faults: [OutOfStock],
    run: (_, { idempotencyKey }) => ({ reservationId: idempotencyKey }),
  }),
  release: operation({ input: z.object({ reservationId: Text }), output: Nothing, run: () => ({}) }),
  unpack: operation({ input: z.object({ basket: Text }), output: Nothing, run: () => ({}) }),
});

export const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ amount: z.number() }),
    output: z.object({ chargeId: Text }),
    faults: [CardDeclined],
    run: (_, { idempotencyKey }) => ({ chargeId: idempotencyKey }),
  }),
  /** Debits the account at once. */
  transfer: operation({
    input: z.object({ amount: z.number() }),
    output: z.object({ transferId: Text }),
    faults: [CardDeclined, BankBusy],
    run: (_, { idempotencyKey }) => ({ transferId: idempotencyKey }),
  }),
  refund: operation({ input: z.object({ chargeId: Text }), output: Nothing, run: () => ({}) }),
});

export const shipping = defineAgent('shipping', {
  ship: operation({ input: z.object({ sku: Text }), output: Nothing, run: () => ({}) }),
  status: operation({ input: Nothing, output: z.object({ arrived: z.boolean() }), run: () => ({ arrived: true }) }),
});

export const supplier = defineAgent('supplier', {
  quote: operation({
    input: z.object({ name: Text }),
    output: z.object({ price: z.number() }),
    run: () => ({ price: 100 }),
  }),
});

export const customer = defineAgent('customer', {
  tell: operation({ input: z.object({ text: Text }), output: Nothing, run: () => ({}) }),
});
