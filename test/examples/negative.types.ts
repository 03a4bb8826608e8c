/** Mistakes that must not compile. Nothing of this runs: `tsc` reports every line that it would let pass. */
import { cel, defineAgent, defineWorkflow, fault, operation, parallel, sequence, sum, text } from 'redress';
import * as z from 'zod';

const Refused = fault('Refused');
const OutOfStock = fault('OutOfStock', Refused);
const CardDeclined = fault('CardDeclined', Refused);
const AddressInvalid = fault('AddressInvalid');

const Items = z.array(z.object({ sku: z.string(), quantity: z.int(), unitPrice: z.int() }));
const Address = z.object({ street: z.string(), city: z.string() });
const Order = z.object({ items: Items, card: z.string(), note: z.string().optional(), address: Address });

const run = (): never => {
  throw new Error('This is never run.');
};

const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ orderId: z.string(), items: Items }),
    output: z.object({ reservationId: z.string() }),
    faults: [OutOfStock],
    run,
  }),
  release: operation({ input: z.object({ reservationId: z.string() }), output: z.object({}), run }),
});

const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ orderId: z.string(), minorUnits: z.number(), card: z.string() }),
    output: z.object({ chargeId: z.string() }),
    faults: [CardDeclined],
    // @ts-expect-error a fault that the operation does not declare
    run: (_, call) => call.failed(AddressInvalid, 'nowhere'),
  }),
  refund: operation({
    input: z.object({ chargeId: z.string() }),
    output: z.object({ refundId: z.string() }),
    // @ts-expect-error an output that is not what the operation promises
    run: () => ({ refund: 're_1' }),
  }),
});

const shipping = defineAgent('shipping', {
  ship: operation({
    input: z.object({ orderId: z.string(), address: Address }),
    output: z.object({ shipmentId: z.string() }),
    faults: [AddressInvalid],
    run,
  }),
});

const customer = defineAgent('customer', {
  notify: operation({
    input: z.object({ orderId: z.string(), kind: z.enum(['shipped', 'refused']), text: z.string() }),
    output: z.object({}),
    run,
  }),
});

export const wrong = defineWorkflow('wrong', { version: 1, order: Order, toOperator: [Refused] }, ({ order, orderId }) => {
  // @ts-expect-error a misspelt field
  inventory.reserve({ orderId, items: order.itms });
  // @ts-expect-error a field of the wrong type
  inventory.reserve({ orderId, items: order.card });
  // @ts-expect-error a missing input
  inventory.reserve({ items: order.items });
  // @ts-expect-error an input that the operation does not know
  inventory.release({ reservationId: 'res_1', orderId });
  // @ts-expect-error an operation that the agent does not have
  inventory.hold({ orderId });

  const reserve = inventory.reserve({ orderId, items: order.items });
  // @ts-expect-error an output that the step does not have
  payment.refund({ chargeId: reserve.output.chargeId });
  // @ts-expect-error a field that may be missing, where a text is needed
  customer.notify({ orderId, kind: 'shipped', text: order.note });
  // @ts-expect-error a literal outside the enumeration
  customer.notify({ orderId, kind: 'lost', text: 'x' });
  // @ts-expect-error a misspelt field inside CEL
  cel<boolean>`${order.addres.city} == "Bonn"`;
  // @ts-expect-error CEL of another type
  payment.charge({ orderId, card: order.card, minorUnits: cel<string>`${order.card}` });
  // @ts-expect-error a step instead of its output inside a text
  text`${reserve}`;
  // @ts-expect-error a misspelt field of an entry
  sum(order.items, (item) => cel`${item.price}`);
  // @ts-expect-error a sum over what is no list
  sum(order.address, () => cel`1`);

  return parallel(reserve, payment.charge({ orderId, card: order.card, minorUnits: 1 }));
});

export const forgotten = defineWorkflow('forgotten', { version: 1, order: Order, toOperator: [CardDeclined] }, ({ order, orderId }) =>
  // @ts-expect-error AddressInvalid is neither handled nor sent to an operator
  sequence(shipping.ship({ orderId, address: order.address })),
);

export const tooNarrow = defineWorkflow('too-narrow', { version: 1, order: Order, toOperator: [CardDeclined] }, ({ order, orderId }) =>
  // @ts-expect-error OutOfStock is refused, too, but only declined cards go to an operator
  sequence(inventory.reserve({ orderId, items: order.items })),
);

export const nothingToForget = defineWorkflow('nothing-to-forget', { version: 1, order: Order }, () =>
  sequence(inventory.release({ reservationId: 'res_1' })),
);
