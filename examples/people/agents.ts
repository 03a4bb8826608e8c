import { type Call, defineAgent, fault, operation } from 'redress';
import * as z from 'zod';
import { Text } from './claim.ts';

/** Stand-ins for remote services. They store nothing: an id is the idempotency key, so a repeated request gets the same answer. */

export const OutOfStock = fault('OutOfStock', { tags: ['user', 'semantic'] });

const Nothing = z.object({});
const Goods = z.object({ sku: Text, quantity: z.int().min(1) });
const Reservation = z.object({ reservationId: Text });
const idOf = (kind: string, { idempotencyKey }: Pick<Call, 'idempotencyKey'>) => `${kind}-${idempotencyKey}`;

export const warehouse = defineAgent('warehouse', {
  reserve: operation({
    input: Goods,
    output: Reservation,
    faults: [OutOfStock],
    writes: ['stock/{sku}'],
    run: ({ sku }, call) =>
      sku === 'unicorn' ? call.failed(OutOfStock, 'There are no unicorns.') : { reservationId: idOf('reservation', call) },
  }),
  release: operation({ input: Reservation, output: Nothing, run: () => ({}) }),
  promise: operation({
    input: z.object({ sku: Text, reservationId: Text }),
    output: z.object({ day: z.iso.date() }),
    reads: ['stock/{sku}'],
    run: () => ({ day: '2026-12-01' }),
  }),
});

export const carrier = defineAgent('carrier', {
  ship: operation({
    input: z.object({ reservationId: Text, to: Text }),
    output: z.object({ shipmentId: Text }),
    run: (_, call) => ({ shipmentId: idOf('shipment', call) }),
  }),
  recall: operation({ input: z.object({ shipmentId: Text }), output: Nothing, run: () => ({}) }),
});

export const customer = defineAgent('customer', {
  tell: operation({ input: z.object({ email: Text, text: Text }), output: Nothing, run: () => ({}) }),
});
