import { call, defineWorkflow, forEach, sequence, withOutput } from 'redress';
import * as z from 'zod';
import { customer, inventory, OutOfStock, shipping } from './agents.ts';

export const shipOne = defineWorkflow(
  'ship-one',
  { version: 1, order: z.object({ sku: z.string() }), toCaller: [OutOfStock] },
  ({ order }) => {
    const reserve = inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId }));

    return withOutput(sequence(reserve, shipping.ship({ sku: order.sku })), { reservation: reserve.output.reservationId });
  },
);

export const shipAll = defineWorkflow('example-call', { version: 1, order: z.object({ skus: z.array(z.string()) }) }, ({ order }) =>
  forEach(order.skus, (sku) => call(shipOne, { sku })).on(OutOfStock, ({ compensate, fault }) =>
    sequence(compensate(), customer.tell({ text: fault.message })),
  ),
);

export const story = `
  start
  -> workflows order/skus[0]/ship-one key order/skus[0]/ship-one/1 attempt 1 by +600s with {"sku":"tea"}
  -> workflows order/skus[1]/ship-one key order/skus[1]/ship-one/1 attempt 1 by +600s with {"sku":"cup"}

  ok order/skus[0]/ship-one {"reservation": "r1"}

  # The second called order has undone its own effects before it fails. Then the first one, which completed, is undone as a whole.

  fault order/skus[1]/ship-one Refused/OutOfStock permanent
  -> workflows order/skus[0]/ship-one/undo key order/skus[0]/ship-one/undo/1 attempt 1 by +600s

  ok order/skus[0]/ship-one/undo
  -> customer order/on-OutOfStock/tell key order/on-OutOfStock/tell/1 attempt 1 with {"text":"the agent reports Refused/OutOfStock"}

  ok order/on-OutOfStock/tell
  == compensated
`;

export const body = { skus: ['tea', 'cup'] };
