import { type Call, defineAgent, operation } from 'redress';
import * as z from 'zod';
import { Text } from './orders.ts';

/** Stand-ins for remote services. They store nothing: an id is the idempotency key, so a repeated request gets the same answer. */

const Nothing = z.object({});
const Goods = z.object({ lot: Text, quantity: z.int().min(1) });
const Reservation = z.object({ reservationId: Text });
const idOf = (kind: string, { idempotencyKey }: Pick<Call, 'idempotencyKey'>) => `${kind}-${idempotencyKey}`;

/** A sale that reserves from a lot depends on the receipt that has booked the lot. */
export const warehouse = defineAgent('warehouse', {
  book: operation({ input: Goods, output: Nothing, writes: ['lot/{lot}'], run: () => ({}) }),
  unbook: operation({ input: Goods, output: Nothing, run: () => ({}) }),
  reserve: operation({
    input: Goods,
    output: Reservation,
    reads: ['lot/{lot}'],
    run: (_, call) => ({ reservationId: idOf('reservation', call) }),
  }),
  release: operation({ input: Reservation, output: Nothing, run: () => ({}) }),
  send: operation({ input: z.object({ reservationId: Text, to: Text }), output: Nothing, run: () => ({}) }),
});

export const accounts = defineAgent('accounts', {
  pay: operation({ input: z.object({ supplier: Text, lot: Text }), output: Nothing, run: () => ({}) }),
});
