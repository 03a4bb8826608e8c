/** Mistakes that must not compile. Nothing of this runs: `tsc` reports every line that it would let pass. */
import {
  type Activity,
  assign,
  type Composite,
  cel,
  choice,
  DeadlineExceeded,
  defineAgent,
  defineWorkflow,
  EngineFault,
  fault,
  forEach,
  operation,
  orElse,
  otherwise,
  parallel,
  raise,
  retry,
  scope,
  sequence,
  sum,
  terminate,
  text,
  variable,
  when,
  whilst,
} from 'redress';
import * as z from 'zod';

const Refused = fault('Refused');
const OutOfStock = fault('OutOfStock', Refused);
const CardDeclined = fault('CardDeclined', Refused);
const AddressInvalid = fault('AddressInvalid');
const Fraud = fault('Fraud');

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
  customer.notify({ orderId, kind: 'shipped', text: orElse(order.note, 'no note') });
  // @ts-expect-error something else of another type
  customer.notify({ orderId, kind: 'shipped', text: orElse(order.note, 5) });
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

  // @ts-expect-error an undo fed from a field that the step does not return
  reserve.undo(({ chargeId }) => payment.refund({ chargeId }));
  // @ts-expect-error an undo that is no step
  reserve.undo(() => sequence());
  // @ts-expect-error a handler on a step, which has nothing inside it
  reserve.on(OutOfStock, () => sequence());

  return parallel(reserve, payment.charge({ orderId, card: order.card, minorUnits: 1 }));
});

export const wrongHandlers = defineWorkflow('wrong-handlers', { version: 1, order: Order, toOperator: [Refused] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items });
  const tell = customer.notify({ orderId, kind: 'refused', text: 'x' });
  // @ts-expect-error a handler that nothing can reach
  sequence(reserve).on(Fraud, () => tell);
  const refused = sequence(reserve).on(Refused, () => tell);
  // @ts-expect-error the second handler is unreachable: the first, more general one took it
  refused.on(OutOfStock, () => tell);
  // @ts-expect-error the same fault twice
  refused.on(Refused, () => tell);
  // @ts-expect-error a handler outside, for what one inside has taken
  parallel(refused).on(OutOfStock, () => tell);
  // @ts-expect-error a field that a fault does not have
  sequence(reserve).on(Refused, ({ fault }) => customer.notify({ orderId, kind: 'refused', text: fault.reason }));
  // @ts-expect-error a fault instead of its message
  sequence(reserve).on(Refused, ({ fault }) => customer.notify({ orderId, kind: 'refused', text: fault }));
  // @ts-expect-error a handler that does nothing at all
  sequence(reserve).on(Refused, () => {});

  return sequence(reserve);
});

export const wrongBlocks = defineWorkflow('wrong-blocks', { version: 1, order: Order, toOperator: [Refused] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items });
  // @ts-expect-error no such option of a retry
  retry(reserve, { times: 3, every: 20 });
  // @ts-expect-error a retry without its interval
  retry(reserve, { count: 3 });
  // @ts-expect-error a retry of two activities
  retry(reserve, reserve, { count: 3, interval: 20 });
  // @ts-expect-error a condition that is no condition
  choice(when(order.card, reserve));
  // @ts-expect-error a condition that is written in TypeScript
  choice(when(order.card === 'x', reserve));
  // @ts-expect-error "otherwise" before the last branch
  choice(otherwise(reserve), when(cel<boolean>`true`, reserve));
  // @ts-expect-error a choice of nothing
  choice();
  // @ts-expect-error a loop over what is no list
  forEach(order.address, () => reserve);
  // @ts-expect-error a misspelt field of an entry
  forEach(order.items, (item) => customer.notify({ orderId, kind: 'refused', text: item.skew }));
  // @ts-expect-error a position used as a text
  forEach(order.items, (_, index) => customer.notify({ orderId, kind: 'refused', text: index }));
  // @ts-expect-error no such option of a forEach
  forEach(order.items, () => reserve, { atOnce: 2 });
  // @ts-expect-error an end of a forEach that is no condition
  forEach(order.items, () => ({ do: reserve, until: order.card }));
  // @ts-expect-error a scope without a name
  scope(reserve);
  // @ts-expect-error no such option of a while
  whilst(cel<boolean>`true`, reserve, { turns: 3 });

  const left = variable<number>('left');
  // @ts-expect-error a value of another type
  assign(left, 'three');
  // @ts-expect-error a variable of which nobody says what it holds
  variable('left');
  // @ts-expect-error what is no variable
  assign(order.card, 'tok_visa');
  // @ts-expect-error a variable read as another type
  customer.notify({ orderId, kind: 'refused', text: left });

  return sequence(reserve);
});

/** Whether two types are the same; never mind in which order a union names its members. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;
const faultsAre = <F extends string>(_: Activity<F>) => ({ exactly: <G extends string>(_: Same<F, G>) => {} });

export const whatMayLeave = defineWorkflow('what-may-leave', { version: 1, order: Order, toOperator: [Fraud] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items }).undo(({ reservationId }) => inventory.release({ reservationId }));
  const charge = payment.charge({ orderId, card: order.card, minorUnits: 1 });
  const ship = shipping.ship({ orderId, address: order.address });
  const all = sequence(reserve, parallel(charge, ship));

  faultsAre(all).exactly<'Refused/OutOfStock' | 'Refused/CardDeclined' | 'AddressInvalid'>(true);
  faultsAre(all.on(Refused, ({ compensate }) => compensate())).exactly<'AddressInvalid'>(true);
  faultsAre(all.on(OutOfStock, () => terminate())).exactly<'Refused/CardDeclined' | 'AddressInvalid'>(true);
  faultsAre(all.on(OutOfStock, () => raise(Fraud, 'odd')).on(Refused, () => charge)).exactly<
    'Refused/CardDeclined' | 'AddressInvalid' | 'Fraud'
  >(true);
  faultsAre(all.on(EngineFault, () => sequence()).on(AddressInvalid, () => sequence())).exactly<
    'Refused/OutOfStock' | 'Refused/CardDeclined'
  >(true);
  // @ts-expect-error a declined card may leave, too
  faultsAre(all).exactly<'Refused/OutOfStock' | 'AddressInvalid'>(true);

  faultsAre(charge.undo(() => ship)).exactly<'Refused/CardDeclined'>(true);
  faultsAre(retry(charge, { count: 3, interval: 20, except: [CardDeclined] })).exactly<'Refused/CardDeclined'>(true);
  faultsAre(scope('paid', charge)).exactly<'Refused/CardDeclined'>(true);
  faultsAre(choice(when(cel<boolean>`true`, charge), otherwise(raise(Fraud, 'odd')))).exactly<'Refused/CardDeclined' | 'Fraud'>(true);
  faultsAre(whilst(cel<boolean>`true`, ship)).exactly<'AddressInvalid'>(true);
  faultsAre(forEach(order.items, () => ship)).exactly<'AddressInvalid'>(true);
  faultsAre(forEach(order.items, () => ({ do: ship, until: cel<boolean>`true` }))).exactly<'AddressInvalid'>(true);
  faultsAre(assign(variable<number>('left'), cel<number>`1`)).exactly<never>(true);
  faultsAre(parallel()).exactly<never>(true);
  const chained: Composite<'Fraud'> = all
    .on(Refused, () => raise(Fraud, 'odd'))
    .on(AddressInvalid, () => sequence())
    .on(DeadlineExceeded, () => sequence());
  return chained;
});

export const raisedInHandler = defineWorkflow('raised-in-handler', { version: 1, order: Order }, ({ order, orderId }) =>
  // @ts-expect-error what a handler raises is handled nowhere
  sequence(inventory.reserve({ orderId, items: order.items })).on(Refused, () => raise(Fraud, 'odd')),
);

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
