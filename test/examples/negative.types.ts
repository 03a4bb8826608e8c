/**
 * Mistakes that must not compile, each with the word that the compiler's message names, or at which it points. The file
 * never runs: `tsc` reports every line without an error, and `negative.test.ts` reads the messages of the others.
 */
import {
  type Activity,
  AnyFault,
  and,
  askOperator,
  assign,
  atLeast,
  ChildNotCompleted,
  type Composite,
  call,
  cel,
  choice,
  compute,
  DeadlineExceeded,
  defineActivity,
  defineAgent,
  defineLeafActivity,
  defineRule,
  defineWorkflow,
  EngineFault,
  equals,
  fault,
  forEach,
  greaterThan,
  has,
  ifTrue,
  NoSignal,
  not,
  operation,
  orElse,
  otherwise,
  parallel,
  raise,
  repeatWhile,
  retry,
  scope,
  sequence,
  sum,
  TransientFailure,
  TransientFault,
  terminate,
  text,
  variable,
  variables,
  waitFor,
  when,
  withOutput,
} from 'redress';
import { httpService } from 'redress/http';
import * as z from 'zod';

const Refused = fault('Refused');
const OutOfStock = fault('OutOfStock', Refused);
const CardDeclined = fault('CardDeclined', Refused);
const BankBusy = fault('BankBusy', TransientFault);
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
    // @ts-expect-error a fault that the operation does not declare: AddressInvalid
    run: (_, call) => call.failed(AddressInvalid, 'nowhere'),
  }),
  transfer: operation({
    input: z.object({ minorUnits: z.number() }),
    output: z.object({}),
    faults: [CardDeclined, BankBusy],
    run: () => {
      // @ts-expect-error a permanent fault in place of a transient one: CardDeclined
      throw new TransientFailure('busy', { fault: CardDeclined });
    },
  }),
  refund: operation({
    input: z.object({ chargeId: z.string() }),
    output: z.object({ refundId: z.string() }),
    // @ts-expect-error an output that is not what the operation promises: refund
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
  // @ts-expect-error a misspelt field: itms
  inventory.reserve({ orderId, items: order.itms });
  // @ts-expect-error a field of the wrong type: items
  inventory.reserve({ orderId, items: order.card });
  // @ts-expect-error a missing input: orderId
  inventory.reserve({ items: order.items });
  // @ts-expect-error an input that the operation does not know: orderId
  inventory.release({ reservationId: 'res_1', orderId });
  // @ts-expect-error an operation that the agent does not have: hold
  inventory.hold({ orderId });

  const reserve = inventory.reserve({ orderId, items: order.items });
  // @ts-expect-error an output that the step does not have: chargeId
  payment.refund({ chargeId: reserve.output.chargeId });
  // @ts-expect-error a field that may be missing, where a text is needed: text
  customer.notify({ orderId, kind: 'shipped', text: order.note });
  customer.notify({ orderId, kind: 'shipped', text: orElse(order.note, 'no note') });
  // @ts-expect-error something else of another type: 5
  customer.notify({ orderId, kind: 'shipped', text: orElse(order.note, 5) });
  // @ts-expect-error a literal outside the enumeration: kind
  customer.notify({ orderId, kind: 'lost', text: 'x' });
  // @ts-expect-error a misspelt field inside CEL: addres
  cel<boolean>`${order.addres.city} == "Bonn"`;
  // @ts-expect-error CEL of another type: minorUnits
  payment.charge({ orderId, card: order.card, minorUnits: cel<string>`${order.card}` });
  // @ts-expect-error a step instead of its output inside a text: reserve
  text`${reserve}`;
  // @ts-expect-error a misspelt field of an entry: price
  sum(order.items, (item) => cel`${item.price}`);
  // @ts-expect-error a sum over a value that is not a list: order.address
  sum(order.address, () => cel`1`);

  // @ts-expect-error an undo fed from a field that the step does not return: chargeId
  reserve.undo(({ chargeId }) => payment.refund({ chargeId }));
  // @ts-expect-error a time that is a text: number
  reserve.within('45 s');
  // @ts-expect-error an undo that is not a step: sequence
  reserve.undo(() => sequence());
  // @ts-expect-error a handler on a step, which has nothing inside it: on
  reserve.on(OutOfStock, () => sequence());

  return parallel(reserve, payment.charge({ orderId, card: order.card, minorUnits: 1 }));
});

export const wrongHandlers = defineWorkflow('wrong-handlers', { version: 1, order: Order, toOperator: [Refused] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items });
  const tell = customer.notify({ orderId, kind: 'refused', text: 'x' });
  // @ts-expect-error a handler that nothing can reach: Fraud
  sequence(reserve).on(Fraud, () => tell);
  const refused = sequence(reserve).on(Refused, () => tell);
  // @ts-expect-error a second handler is unreachable behind a more general one: OutOfStock
  refused.on(OutOfStock, () => tell);
  // @ts-expect-error a handler after the one for every fault: on
  refused.on(AnyFault, () => sequence()).on(EngineFault, () => sequence());
  // @ts-expect-error the same fault twice: Refused
  refused.on(Refused, () => tell);
  // @ts-expect-error an outer handler for a fault that an inner one handles: OutOfStock
  parallel(refused).on(OutOfStock, () => tell);
  // @ts-expect-error a field that a fault does not have: reason
  sequence(reserve).on(Refused, ({ fault }) => customer.notify({ orderId, kind: 'refused', text: fault.reason }));
  // @ts-expect-error a fault instead of its message: text
  sequence(reserve).on(Refused, ({ fault }) => customer.notify({ orderId, kind: 'refused', text: fault }));
  // @ts-expect-error a handler without an activity: void
  sequence(reserve).on(Refused, () => {});

  return sequence(reserve);
});

export const wrongBlocks = defineWorkflow('wrong-blocks', { version: 1, order: Order, toOperator: [Refused] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items });
  // @ts-expect-error an unknown option of a retry: times
  retry(reserve, { times: 3, every: 20 });
  // @ts-expect-error a retry without its interval: intervalSeconds
  retry(reserve, { retries: 3 });
  retry(reserve, { retries: 3, intervalSeconds: 20, only: [OutOfStock], undoFirst: true });
  // @ts-expect-error a retry with both "only" and "except": except
  retry(reserve, { retries: 3, intervalSeconds: 20, only: [OutOfStock], except: [CardDeclined] });
  // @ts-expect-error a retry with both "only" and "evenPermanent": evenPermanent
  retry(reserve, { retries: 3, intervalSeconds: 20, only: [OutOfStock], evenPermanent: true });
  // @ts-expect-error a text in place of a fault: 'OutOfStock'
  retry(reserve, { retries: 3, intervalSeconds: 20, only: ['OutOfStock'] });
  // @ts-expect-error a retry of two activities: arguments
  retry(reserve, reserve, { retries: 3, intervalSeconds: 20 });
  // @ts-expect-error an object in place of a condition: order.card
  choice(when(order.card, reserve));
  // @ts-expect-error a condition that is written in TypeScript: order.card
  choice(when(order.card === 'x', reserve));
  // @ts-expect-error "otherwise" before the last branch: otherwise
  choice(otherwise(reserve), when(cel<boolean>`true`, reserve));
  // @ts-expect-error a choice without branches: choice
  choice();
  // @ts-expect-error a loop over a value that is not a list: order.address
  forEach(order.address, () => reserve);
  // @ts-expect-error a misspelt field of an entry: skew
  forEach(order.items, (item) => customer.notify({ orderId, kind: 'refused', text: item.skew }));
  // @ts-expect-error a position used as a text: text
  forEach(order.items, (_, index) => customer.notify({ orderId, kind: 'refused', text: index }));
  // @ts-expect-error an unknown option of a forEach: atOnce
  forEach(order.items, () => reserve, { atOnce: 2 });
  // @ts-expect-error an end of a forEach that is not a condition: until
  forEach(order.items, () => ({ do: reserve, until: order.card }));
  const reserved = forEach(order.items, () => ({ do: reserve, collect: reserve.output.reservationId }));
  inventory.release({ reservationId: cel<string>`${reserved.output}[0]` });
  // @ts-expect-error a list where one of its entries is needed: reservationId
  inventory.release({ reservationId: reserved.output });
  // @ts-expect-error a list of texts where a list of items is needed: items
  inventory.reserve({ orderId, items: reserved.output });
  // @ts-expect-error a collected value of a field that the step does not return: chargeId
  forEach(order.items, () => ({ do: reserve, collect: reserve.output.chargeId }));
  // @ts-expect-error the list of a loop that collects nothing: output
  forEach(order.items, () => reserve).output;
  // @ts-expect-error the list of a loop that only has an end: output
  forEach(order.items, () => ({ do: reserve, until: cel<boolean>`true` })).output;
  const one = forEach(order.items, ({ sku, unitPrice }) => ({ do: reserve, collect: { sku, unitPrice, quantity: 1 } }));
  inventory.reserve({ orderId, items: one.named('one').output });
  forEach(['shipped', 'refused'], (kind) => customer.notify({ orderId, kind, text: kind }));
  // @ts-expect-error a list with an entry outside the enumeration: kind
  forEach(['shipped', 'lost'], (kind) => customer.notify({ orderId, kind, text: 'x' }));
  // @ts-expect-error a text used as a number: minorUnits
  forEach(['EUR', 'USD'], (currency) => payment.charge({ orderId, card: order.card, minorUnits: currency }));
  // @ts-expect-error a field that no entry of a list has: size
  forEach([{ sku: 'tea' }, { sku: order.card }], (item) => customer.notify({ orderId, kind: 'shipped', text: item.size }));
  forEach([{ sku: 'tea' }, { sku: order.card }], (item) => customer.notify({ orderId, kind: 'shipped', text: item.sku }));
  // @ts-expect-error a scope without a name: scope
  scope(reserve);
  // @ts-expect-error an unknown option of a while: turns
  repeatWhile(cel<boolean>`true`, reserve, { turns: 3 });

  const left = variable<number>('left');
  // @ts-expect-error a value of another type: 'three'
  assign(left, 'three');
  // @ts-expect-error a variable without a declared type: 'left'
  variable('left');
  // @ts-expect-error an order field in place of a variable: order.card
  assign(order.card, 'tok_visa');
  // @ts-expect-error a variable read as another type: text
  customer.notify({ orderId, kind: 'refused', text: left });

  return sequence(reserve);
});

const Parcel = z.object({
  kind: z.enum(['gift', 'purchase']),
  total: z.number(),
  paid: z.boolean(),
  checked: z.boolean().optional(),
  note: z.string().optional(),
  address: Address,
});

export const wrongConditions = defineWorkflow('wrong-conditions', { version: 1, order: Parcel }, ({ order, orderId }) => {
  const tell = customer.notify({ orderId, kind: 'shipped', text: 'x' });
  ifTrue(order.paid, tell);
  ifTrue(not(order.paid), tell, sequence());
  ifTrue(and(not(order.paid), equals(order.kind, 'gift'), atLeast(order.total, 10)), tell);
  ifTrue(has(order.note), tell);
  equals(order.kind, order.address.city);
  equals(orElse(order.note, ''), 'x');
  // @ts-expect-error a number as a condition: greaterThan(order.total,
  ifTrue(order.total, tell);
  // @ts-expect-error a text that is negated: greaterThan(order.total,
  not(order.kind);
  // @ts-expect-error a condition that may be missing: orElse(path,
  ifTrue(order.checked, tell);
  // @ts-expect-error a condition that may be missing, negated: orElse(path,
  not(order.checked);
  // @ts-expect-error a value outside the enumeration: 'gifts'
  equals(order.kind, 'gifts');
  // @ts-expect-error a value of another type: '100'
  greaterThan(order.total, '100');
  // @ts-expect-error a path of another type: order.kind
  greaterThan(order.total, order.kind);
  // @ts-expect-error a path that may be missing: orElse(path,
  equals(order.note, 'x');
  // @ts-expect-error a comparison of booleans by size: boolean
  greaterThan(order.paid, 1);
  // @ts-expect-error a comparison of an object: order.address
  equals(order.address, 'Bonn');
  // @ts-expect-error a text among conditions: order.note
  and(order.paid, order.note);
  // @ts-expect-error a single condition: and
  and(order.paid);
  // @ts-expect-error a step in place of its output: tell
  ifTrue(tell, tell);
  // @ts-expect-error a condition that JavaScript evaluates: total
  ifTrue(order.total > 100, tell);
  // @ts-expect-error an order field in place of an activity: order.note
  ifTrue(order.paid, order.note);

  const vars = variables<{ left: number; done: boolean }>();
  assign(vars.left, cel`${vars.left} - 1`);
  ifTrue(vars.done, tell);
  // @ts-expect-error a variable that is not declared: right
  vars.right;
  // @ts-expect-error a value of another type for a variable: 'three'
  assign(vars.left, 'three');
  // @ts-expect-error variables without their types: left
  variables().left;

  return sequence(tell);
});

/** Whether two types are the same, apart from the order of union members. */
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
  // @ts-expect-error a fault that may escape as well: true
  faultsAre(all).exactly<'Refused/OutOfStock' | 'AddressInvalid'>(true);

  faultsAre(charge.undo(() => ship)).exactly<'Refused/CardDeclined'>(true);
  faultsAre(retry(charge, { retries: 3, intervalSeconds: 20, except: [CardDeclined] })).exactly<'Refused/CardDeclined'>(true);
  faultsAre(retry(charge, { retries: 3, intervalSeconds: 20, only: [CardDeclined] })).exactly<'Refused/CardDeclined'>(true);
  faultsAre(scope('paid', charge)).exactly<'Refused/CardDeclined'>(true);
  faultsAre(choice(when(cel<boolean>`true`, charge), otherwise(raise(Fraud, 'odd')))).exactly<'Refused/CardDeclined' | 'Fraud'>(true);
  faultsAre(ifTrue(cel<boolean>`true`, charge, raise(Fraud, 'odd'))).exactly<'Refused/CardDeclined' | 'Fraud'>(true);
  faultsAre(ifTrue(cel<boolean>`true`, charge)).exactly<'Refused/CardDeclined'>(true);
  faultsAre(repeatWhile(cel<boolean>`true`, ship)).exactly<'AddressInvalid'>(true);
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
  // @ts-expect-error a fault that a handler raises is not handled: Fraud
  sequence(inventory.reserve({ orderId, items: order.items })).on(Refused, () => raise(Fraud, 'odd')),
);

export const raisedAgain = defineWorkflow('raised-again', { version: 1, order: Order }, ({ order, orderId }) =>
  // @ts-expect-error a fault that a handler raises again is not handled: OutOfStock
  sequence(inventory.reserve({ orderId, items: order.items })).on(Refused, ({ rethrow }) => rethrow()),
);

export const forgotten = defineWorkflow('forgotten', { version: 1, order: Order, toOperator: [CardDeclined] }, ({ order, orderId }) =>
  // @ts-expect-error AddressInvalid is neither handled nor sent to an operator: AddressInvalid
  sequence(shipping.ship({ orderId, address: order.address })),
);

/** A temporary fault needs no handler: its step is requested again. */
export const passing = defineWorkflow('passing', { version: 1, order: Order, toOperator: [CardDeclined] }, () =>
  sequence(payment.transfer({ minorUnits: 1 })),
);

export const tooNarrow = defineWorkflow('too-narrow', { version: 1, order: Order, toOperator: [CardDeclined] }, ({ order, orderId }) =>
  // @ts-expect-error OutOfStock is refused, too, but only declined cards go to an operator: OutOfStock
  sequence(inventory.reserve({ orderId, items: order.items })),
);

export const nothingToForget = defineWorkflow('nothing-to-forget', { version: 1, order: Order }, () =>
  sequence(inventory.release({ reservationId: 'res_1' })),
);

const signed = waitFor('signed', z.object({ by: z.string(), pages: z.int() }), { withinSeconds: 60 });
const approval = askOperator('approval', { question: 'Is it right?', answer: z.object({ approved: z.boolean(), why: z.string() }) });
const price = compute(
  'price',
  { version: 1, input: z.object({ items: Items }), output: z.object({ minorUnits: z.int() }) },
  // @ts-expect-error a function that returns another type than it declares: minorUnits
  ({ items }) => ({ cents: items.length }),
);

const shipOne = defineWorkflow(
  'ship-one',
  { version: 1, order: z.object({ sku: z.string(), address: Address }), toCaller: [OutOfStock, AddressInvalid] },
  ({ order, orderId }) => {
    const ship = shipping.ship({ orderId, address: order.address });
    return withOutput(ship, { parcel: ship.output.shipmentId });
  },
);

export const wrongWaits = defineWorkflow('wrong-waits', { version: 1, order: Order }, ({ order, orderId }) => {
  const tell = (text: typeof signed.output.by) => customer.notify({ orderId, kind: 'shipped', text });
  tell(signed.output.by);
  // @ts-expect-error a field that the payload of the signal does not have: name
  tell(signed.output.name);
  // @ts-expect-error a field of the signal of another type: signed.output.pages
  tell(signed.output.pages);
  // @ts-expect-error a signal without its schema: withinSeconds
  waitFor('signed', { withinSeconds: 60 });
  // @ts-expect-error a time that is a text: withinSeconds
  waitFor('signed', z.object({}), { withinSeconds: order.card });
  // @ts-expect-error an unknown option of a waitFor: days
  waitFor('signed', z.object({}), { days: 3 });
  // @ts-expect-error an undo of an activity without an effect: undo
  signed.undo(() => tell('x' as never));
  // @ts-expect-error a handler on a waitFor, which has nothing inside it: on
  signed.on(NoSignal, () => tell(order.card));

  // @ts-expect-error a field that the answer does not have: reason
  tell(approval.output.reason);
  // @ts-expect-error an answer that is not a condition: approval.output.why
  choice(when(approval.output.why, tell(order.card)));
  // @ts-expect-error a question without an answer: answer
  askOperator('approval', { question: 'Is it right?' });
  // @ts-expect-error a question that is not a text: question
  askOperator('approval', { question: order.address, answer: z.boolean() });
  return sequence(signed, approval);
});

export const wrongFunctions = defineWorkflow('wrong-functions', { version: 1, order: Order }, ({ order, orderId }) => {
  // @ts-expect-error a misspelt field of a function's input: item
  price({ item: order.items });
  // @ts-expect-error a field of a function's input of another type: items
  price({ items: order.card });
  // @ts-expect-error a field that a function does not return: cents
  payment.charge({ orderId, card: order.card, minorUnits: price({ items: order.items }).output.cents });
  return price({ items: order.items });
});

export const wrongCalls = defineWorkflow('wrong-calls', { version: 1, order: Order, toOperator: [Fraud] }, ({ order }) => {
  const { address } = order;
  const child = call(shipOne, { sku: 'tea', address });
  // @ts-expect-error a field that the called order does not have: skew
  call(shipOne, { skew: 'tea', address });
  // @ts-expect-error a field of the called order of another type: sku
  call(shipOne, { sku: order.items, address });
  // @ts-expect-error a missing field of the called order: address
  call(shipOne, { sku: 'tea' });
  // @ts-expect-error a field that the result of the called order does not have: shipmentId
  customer.notify({ orderId: 'x', kind: 'shipped', text: child.output.shipmentId });
  // @ts-expect-error a handler for a fault that the called order cannot raise: CardDeclined
  sequence(child).on(CardDeclined, () => sequence());
  // @ts-expect-error a step in place of a workflow: shipping.ship
  call(shipping.ship, { sku: 'tea', address });

  return sequence(child)
    .on(Refused, () => terminate())
    .on(AddressInvalid, () => terminate())
    .on(ChildNotCompleted, () => terminate());
});

export const childForgotten = defineWorkflow('child-forgotten', { version: 1, order: Order, toOperator: [OutOfStock] }, ({ order }) =>
  // @ts-expect-error AddressInvalid, which a called order sends to its caller, is not handled: AddressInvalid
  sequence(call(shipOne, { sku: 'tea', address: order.address })),
);

export const callerForgotten = defineWorkflow(
  'caller-forgotten',
  { version: 1, order: Order, toCaller: [AddressInvalid] },
  ({ order, orderId }) =>
    // @ts-expect-error OutOfStock is neither handled nor sent to the caller: OutOfStock
    sequence(inventory.reserve({ orderId, items: order.items })),
);

const paymentService = httpService({ name: 'payment', urlFrom: 'PAYMENT_URL' });
// @ts-expect-error a service without an address: urlFrom
httpService({ name: 'payment' });
operation({
  input: z.object({}),
  output: z.object({ chargeId: z.string() }),
  // @ts-expect-error a deletion, which returns nothing, for an operation with an output: chargeId
  run: (_, call) => paymentService.delete('/charges/1', call),
});
operation({
  input: z.object({}),
  output: z.object({ chargeId: z.string() }),
  run: (_, call) => paymentService.post('/charges', undefined, call),
  // @ts-expect-error a lookup of another form: bookingId
  lookup: (key, call) => paymentService.lookup('/charges', key, { ...call, output: z.object({ bookingId: z.string() }) }),
});

const ensure = defineActivity<object, object, 'do' | 'last'>('negative:ensure', ['do', 'last'], { execute: () => ({ verb: 'terminate' }) });
const lock = defineLeafActivity<{ readonly key: string }, object, 'Fraud'>(
  'negative:lock',
  { execute: () => ({ verb: 'terminate' }) },
  { faults: [Fraud] },
);

export const wrongOwn = defineWorkflow('wrong-own', { version: 1, order: Order, toOperator: [Refused, Fraud] }, ({ order, orderId }) => {
  const reserve = inventory.reserve({ orderId, items: order.items });
  // @ts-expect-error a missing part: last
  ensure({}, { do: reserve });
  // @ts-expect-error a part that is not an activity: last
  ensure({}, { do: reserve, last: order.card });
  // @ts-expect-error an unknown field of an activity of the app: name
  lock({ name: 'x' });
  // @ts-expect-error a handler for a fault that no part raises: AddressInvalid
  ensure({}, { do: reserve, last: sequence() }).on(AddressInvalid, () => sequence());
  // @ts-expect-error a name without a namespace: 'ensure'
  defineActivity('ensure', [], { execute: () => ({ verb: 'terminate' }) });

  faultsAre(ensure({}, { do: reserve, last: lock({ key: 'x' }) })).exactly<'Refused/OutOfStock' | 'Fraud'>(true);
  faultsAre(call(shipOne, { sku: 'tea', address: order.address })).exactly<'Refused/OutOfStock' | 'AddressInvalid'>(true);
  return sequence(lock({ key: 'x' }));
});

const rescue = defineWorkflow('rescue', { version: 1, order: z.object({ orderId: z.string() }) }, () => sequence());
const ofRescue = { name: 'A rule', workflow: rescue, mode: 'enforce' } as const;
const declined = { kind: 'exception', type: CardDeclined } as const;

// @ts-expect-error an unknown kind of event: "exeption"
defineRule('kind', { ...ofRescue, event: { kind: 'exeption' }, action: { kind: 'suspend' } });
// @ts-expect-error a class of a signal: class
defineRule('class', { ...ofRescue, event: { kind: 'signal', class: 'expected' }, action: { kind: 'suspend' } });
// @ts-expect-error an age without seconds: afterSeconds
defineRule('age', { ...ofRescue, event: { kind: 'order-age' }, action: { kind: 'suspend' } });
// @ts-expect-error a list of events without a time: withinSeconds
defineRule('within', { ...ofRescue, all: [declined, { kind: 'signal' }], action: { kind: 'suspend' } });
// @ts-expect-error a misspelt field of the order: ordrId
defineRule('field', { ...ofRescue, event: declined, condition: ({ order }) => equals(order.ordrId, 'x'), action: { kind: 'suspend' } });
defineRule('signal', {
  ...ofRescue,
  event: { kind: 'signal' },
  // @ts-expect-error an exception where none exists: exception
  condition: ({ exception }) => equals(exception.type, 'x'),
  action: { kind: 'suspend' },
});
// @ts-expect-error a condition that is a text: Expr<boolean>
defineRule('text', { ...ofRescue, event: declined, condition: ({ order }) => order.orderId, action: { kind: 'suspend' } });
// @ts-expect-error a retry of no step: "retry"
defineRule('retry', { ...ofRescue, event: { kind: 'signal' }, action: { kind: 'retry' } });
// @ts-expect-error a skip without an output: output
defineRule('skip', { ...ofRescue, event: declined, action: { kind: 'skip' } });
// @ts-expect-error an order that goes on nowhere: path
defineRule('resumed', { ...ofRescue, event: declined, action: { kind: 'handle', workflow: rescue, control: 'resumed' } });
// @ts-expect-error an unknown mode: "on"
defineRule('mode', { ...ofRescue, mode: 'on', event: declined, action: { kind: 'suspend' } });

// @ts-expect-error an unknown tag: "tecnical"
fault('Mistagged', { tags: ['tecnical'] });
// @ts-expect-error a group by something else: "type"
fault('Grouped', { groupBy: 'type' });
// @ts-expect-error objects that are no list: writes
operation({ input: z.object({ sku: z.string() }), output: z.object({}), writes: 'stock/{sku}', run: () => ({}) });

// @ts-expect-error an unknown option of people: dueIn
export const late = defineWorkflow('late', { version: 1, order: Order, people: { group: 'claims', dueIn: 60 } }, () => sequence());
// @ts-expect-error groups that are no list: escalateTo
export const leads = defineWorkflow('leads', { version: 1, order: Order, people: { escalateTo: 'leads' } }, () => sequence());

export const expected = defineWorkflow('expected', { version: 1, order: Order, toOperator: [AddressInvalid] }, ({ order, orderId }) => {
  const ship = shipping.ship({ orderId, address: order.address }).noUndo();
  // @ts-expect-error a misspelt field of the answer: shipmentID
  ship.expecting((output) => equals(output.shipmentID, 'x'), 'a shipment');
  // @ts-expect-error an expectation that is no condition: Expr<boolean>
  ship.expecting((output) => output.shipmentId, 'a shipment');
  // @ts-expect-error an expectation without words: expecting
  ship.expecting((output) => equals(output.shipmentId, 'x'));
  // @ts-expect-error a misspelt field in the output: shipmentID
  return withOutput(ship, { parcel: ship.output.shipmentID });
});

const ofData = { ...ofRescue, event: { kind: 'data' } } as const;
// @ts-expect-error a constraint that reads an exception: exception
defineRule('reads', { ...ofData, condition: ({ exception }) => equals(exception.type, 'x'), action: { kind: 'suspend' } });
// @ts-expect-error a constraint that retries: "retry"
defineRule('retries', { ...ofData, condition: ({ order }) => equals(order.orderId, 'x'), action: { kind: 'retry' } });
// @ts-expect-error an exception without words: message
defineRule('raises', { ...ofData, condition: ({ order }) => equals(order.orderId, 'x'), action: { kind: 'raise', type: 'Wrong' } });
// @ts-expect-error an undo for an exception: "compensate-with"
defineRule('undo', { ...ofRescue, event: declined, action: { kind: 'compensate-with', agent: 'payment', operation: 'refund', input: {} } });
