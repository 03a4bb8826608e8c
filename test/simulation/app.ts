import {
  type App,
  askOperator,
  type Call,
  ChildNotCompleted,
  call,
  cel,
  close,
  DeadlineExceeded,
  defineActivity,
  defineAgent,
  defineApp,
  defineWorkflow,
  delay,
  type Expr,
  type FaultType,
  fault,
  forEach,
  InputTooLarge,
  NoSignal,
  operation,
  parallel,
  retry,
  run,
  scope,
  secret,
  sequence,
  succeeded,
  wait,
  waitFor,
  withOutput,
} from 'redress';
import * as z from 'zod';
import type { Definitions } from '#ports/definitions';
import { loadDefinitions } from '#roles/definitions/load';
import { channels, consumersOn, type Handlers } from './consumer-app.ts';
import { objectWorkflows } from './object-workflows.ts';
import { About, Bulk, Effect, nobody, OutOfStock, Refused, stock, undoing } from './stock.ts';

const CardDeclined = fault('CardDeclined', Refused);
const NoRoom = fault('NoRoom', Refused);
/** A fault for which most workflows have no handler: the order waits for a person. */
const AddressInvalid = fault('AddressInvalid');

/** Faults that an operation may refuse with; an operation that is not in the table refuses nothing. */
export const refusals: { readonly [operation: string]: FaultType } = {
  'stock.reserve': OutOfStock,
  'stock.book': OutOfStock,
  'stock.take': OutOfStock,
  'bank.charge': CardDeclined,
  'carrier.ship': AddressInvalid,
  'hotel.book': NoRoom,
};
/** Faults that services return without having declared them. */
export const undeclaredFaults: ReadonlySet<string> = new Set(['TooLate']);
/** Operations of a service without idempotency. */
export const atMostOnce: ReadonlySet<string> = new Set(['ledger.enter', 'ledger.post']);

/** A booking with a secret that only the service and the undo may see: see `secretOf`. */
const Booking = z.object({ id: z.string(), key: z.object({ code: secret(z.string()) }) });
/** The content of a safe: its secrets are so short that no text can be searched for them. */
const Safe = z.object({ id: z.string(), safe: z.object({ pin: secret(z.number()), sign: secret(z.string()), door: z.string() }) });
const Opening = z.object({ id: z.string(), pin: z.number(), hint: z.string(), door: z.string() });
const Body = z.object({ item: z.string() });
/** An input whose item is secret. */
const Sealed = z.object({ item: secret(z.string()) });
/** The agent refuses a call with a longer item. */
const Short = z.object({ item: z.string().max(20) });
const Items = z.object({ items: z.array(z.string()) });
/** The body of an order that takes the same text three times. */
const Thrice = z.object({ one: z.string(), two: z.string(), three: z.string() });

const bank = defineAgent('bank', {
  charge: operation({ input: About, output: Effect, faults: [CardDeclined], attemptsMax: 2, run: nobody }),
  refund: undoing,
});
const carrier = defineAgent('carrier', {
  ship: operation({ input: About, output: Effect, faults: [AddressInvalid], longestSeconds: 40, run: nobody }),
  recall: undoing,
});
const hotel = defineAgent('hotel', {
  book: operation({ input: About, output: Booking, faults: [NoRoom], run: nobody }),
  cancel: operation({ input: z.object({ id: z.string(), code: z.string() }), output: Effect, run: nobody }),
  lock: operation({ input: About, output: Safe, run: nobody }),
  unlock: operation({ input: Opening, output: Effect, run: nobody }),
});
const mail = defineAgent('mail', { tell: operation({ input: About, output: Effect, run: nobody }) });
const ledger = defineAgent('ledger', {
  enter: operation({ input: About, output: Effect, atMostOnce: true, run: nobody, lookup: nobody }),
  /** If the reply is lost, only a person can say whether the posting was done. */
  post: operation({ input: About, output: Effect, atMostOnce: true, run: nobody }),
  strike: undoing,
});

const reserve = (what: Expr<string>, name = 'reserve') =>
  stock
    .reserve({ what })
    .named(name)
    .undo(({ id }) => stock.release({ id }));
const charge = (what: Expr<string>, name = 'charge') =>
  bank
    .charge({ what })
    .named(name)
    .undo(({ id }) => bank.refund({ id }));
const ship = (what: Expr<string>) => carrier.ship({ what }).undo(({ id }) => carrier.recall({ id }));

const sale = defineWorkflow('sale', { version: 1, order: Sealed, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(
    reserve(order.item),
    retry(charge(order.item), { retries: 2, intervalSeconds: 5, except: [CardDeclined] }),
    ship(order.item),
    mail.tell({ what: order.item }).noUndo(),
  )
    .on(CardDeclined, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => sequence(compensate(), mail.tell({ what: order.item }).named('apologise').noUndo())),
);

const pair = defineWorkflow('pair', { version: 1, order: Sealed, onExhausted: 'undo' }, ({ order }) =>
  parallel(reserve(order.item), charge(order.item))
    .on(OutOfStock, ({ compensate }) => sequence(compensate(), mail.tell({ what: order.item }).named('regret').noUndo()))
    .on(Refused, ({ compensate }) => compensate()),
);

const lines = defineWorkflow('lines', { version: 1, order: Items, recover: 'order' }, ({ order }) =>
  forEach(order.items, (item) => reserve(item), { maxConcurrency: 2 }).on(Refused, ({ compensate }) => compensate()),
);

const approval = defineWorkflow('approval', { version: 1, order: Body, onExhausted: 'wait' }, ({ order }) =>
  sequence(reserve(order.item), waitFor('approved', z.object({ by: secret(z.string()) }), { withinSeconds: 60 }), charge(order.item))
    .on(NoSignal, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

const stay = defineWorkflow('stay', { version: 1, order: Body, toCaller: [NoRoom] }, ({ order }) => {
  const night = hotel.book({ what: order.item }).undo(({ id, key }) => hotel.cancel({ id, code: key.code }));
  const second = hotel
    .book({ what: order.item })
    .named('second')
    .undo(({ id, key }) => hotel.cancel({ id, code: key.code }));
  return withOutput(sequence(night, second), { room: night.output.id });
});

/** No workflow calls this version yet: existing callers continue with the older one. */
const stayLater = defineWorkflow('stay', { version: 2, order: Body, toCaller: [NoRoom] }, ({ order }) => {
  const room = hotel
    .book({ what: order.item })
    .named('room')
    .undo(({ id, key }) => hotel.cancel({ id, code: key.code }));
  return withOutput(sequence(mail.tell({ what: order.item }).noUndo(), room), { room: room.output.id });
});

const trip = defineWorkflow('trip', { version: 1, order: Body }, ({ order }) =>
  sequence(reserve(order.item), call(stay, { item: order.item }), charge(order.item))
    .on(NoRoom, ({ compensate }) => sequence(compensate(), mail.tell({ what: order.item }).named('regret').noUndo()))
    .on(Refused, ({ compensate }) => compensate()),
);

/** Cancels a called order while it runs. A parallel branch fails, or the whole order exceeds its time limit. */
const journey = defineWorkflow('journey', { version: 1, order: Body, recover: 'order', onExhausted: 'undo' }, ({ order }) =>
  parallel(
    call(stay, { item: order.item }),
    charge(order.item),
    sequence(reserve(order.item), mail.tell({ what: order.item }).noUndo()),
  ).on(Refused, ({ compensate }) => compensate()),
);

/** Takes three hours, so that many callers cancel it meanwhile. */
const visit = defineWorkflow('visit', { version: 1, order: Short, toCaller: [OutOfStock] }, ({ order }) =>
  sequence(reserve(order.item), delay({ seconds: 10_800 })),
);

const weekend = defineWorkflow('weekend', { version: 1, order: Body, toOperator: [AddressInvalid] }, ({ order }) =>
  parallel(call(visit, { item: order.item }), sequence(charge(order.item), ship(order.item))).on(Refused, ({ compensate }) => compensate()),
);

/** Calls an order that calls another order. */
const tour = defineWorkflow('tour', { version: 1, order: Body, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(charge(order.item), call(trip, { item: order.item }), ship(order.item))
    .on(ChildNotCompleted, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** A handler undoes steps in the middle, and each run is undone before the next one. */
const renewal = defineWorkflow('renewal', { version: 1, order: Body, onExhausted: 'fault', completeWithinSeconds: 150 }, ({ order }) => {
  const first = sequence(reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate());
  const second = sequence(reserve(order.item, 'reserve-more'), charge(order.item, 'charge-more'));
  return sequence(
    scope('first', first),
    retry(scope('second', second), { retries: 2, intervalSeconds: 10, evenPermanent: true, undoFirst: true }),
    mail.tell({ what: order.item }).noUndo(),
  )
    .on(DeadlineExceeded, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate());
});

const entry = defineWorkflow('entry', { version: 1, order: Sealed }, ({ order }) => {
  const enter = ledger.enter({ what: order.item }).undo(({ id }) => ledger.strike({ id }));
  return sequence(reserve(order.item), parallel(enter, charge(order.item))).on(Refused, ({ compensate }) => compensate());
});

const letter = defineWorkflow('letter', { version: 1, order: Sealed }, ({ order }) => {
  const post = ledger.post({ what: order.item }).undo(({ id }) => ledger.strike({ id }));
  const ask = askOperator('right', {
    question: 'Is it right?',
    answer: z.object({ yes: z.boolean(), note: secret(z.string()).optional() }),
    people: { group: 'desk', dueSeconds: 600, every: 200, escalateTo: ['leads'] },
  });
  return sequence(post, ask, charge(order.item)).on(Refused, ({ compensate }) => compensate());
});

/** The input of the lock's undo is partly secret. The workflow has no name of its own: messages to clients list all known names. */
const staySafely = defineWorkflow('stay', { version: 3, order: Body }, ({ order }) => {
  const lock = hotel.lock({ what: order.item }).undo(({ id, safe: { pin, sign, door } }) => {
    return hotel.unlock({ id, pin, hint: sign, door });
  });
  return sequence(lock, reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate());
});

/** Runs `do` again at once after any fault except the listed ones: a retry activity that the app defines. */
const again = defineActivity<{ readonly retries: number; readonly except: readonly string[] }, { readonly attempt: number }, 'do'>(
  'simulated:again',
  ['do'],
  {
    execute: (activity) => ({ ...run([activity.do.name], { attempt: 1 }), resetsVariables: true }),
    retries: ({ retries, except }, { attempt }, { type }) => attempt <= retries && !except.includes(type),
    childFaulted: (activity, { attempt }) => ({ ...run([activity.do.name], { attempt: attempt + 1 }), resetsVariables: true }),
    childClosed: (_, __, closing) => close(closing),
  },
);

/** Runs its two children at the same time. */
const both = defineActivity<object, { readonly open: number }, 'one' | 'other'>('simulated:both', ['one', 'other'], {
  execute: ({ one, other }) => run([one.name, other.name], { open: 2 }),
  childClosed: (_, { open }) => (open === 1 ? close(succeeded()) : wait({ open: open - 1 })),
});

/** The charge depends on the result of the search. A later run with another result has another effect. */
const picked = (item: Expr<string>) => {
  const find = scope('find', reserve(item)).on(OutOfStock, () => mail.tell({ what: item }).noUndo());
  return sequence(find, charge(cel<string>`orElse(steps.?reserve.?id, "nothing")`), ship(item));
};
const picking = defineWorkflow('picking', { version: 1, order: Body }, ({ order }) =>
  retry(picked(order.item), { retries: 3, intervalSeconds: 5, evenPermanent: true, except: [CardDeclined] })
    .on(Refused, ({ compensate }) => compensate())
    .on(AddressInvalid, ({ compensate }) => compensate()),
);
const packing = defineWorkflow('packing', { version: 1, order: Body }, ({ order }) =>
  again({ retries: 3, except: [CardDeclined.path] }, { do: picked(order.item) })
    .on(Refused, ({ compensate }) => compensate())
    .on(AddressInvalid, ({ compensate }) => compensate()),
);

/** Charges for the result of a parallel branch. A resent request could read a newer result, but charges for the first one. */
const guessing = defineWorkflow('guessing', { version: 1, order: Body }, ({ order }) =>
  both({}, { one: reserve(order.item), other: charge(cel<string>`orElse(steps.?reserve.?id, "nothing")`) }).on(Refused, ({ compensate }) =>
    compensate(),
  ),
);

/** The version that a deployment brings while orders of the first version are running: its steps have another order. */
const newerSale = defineWorkflow('sale', { version: 2, order: Sealed, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(
    parallel(reserve(order.item), retry(charge(order.item), { retries: 2, intervalSeconds: 5, except: [CardDeclined] })),
    ship(order.item),
    mail.tell({ what: order.item }).noUndo(),
  ).on(Refused, ({ compensate }) => sequence(compensate(), mail.tell({ what: order.item }).named('apologise').noUndo())),
);

/** An edited workflow whose version somebody forgot to raise: the shipment comes before the charge. */
const editedSale = defineWorkflow('sale', { version: 1, order: Sealed, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(
    reserve(order.item),
    ship(order.item),
    retry(charge(order.item), { retries: 2, intervalSeconds: 5, except: [CardDeclined] }),
    mail.tell({ what: order.item }).noUndo(),
  )
    .on(CardDeclined, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => sequence(compensate(), mail.tell({ what: order.item }).named('apologise').noUndo())),
);

/** One step for each of many entries, with the default concurrency; `rush` runs nearly all of them in parallel. */
const wide = defineWorkflow('wide', { version: 1, order: Items }, ({ order }) =>
  forEach(order.items, (item) => reserve(item)).on(Refused, ({ compensate }) => compensate()),
);
const rush = defineWorkflow('rush', { version: 1, order: Items }, ({ order }) =>
  forEach(order.items, (item) => charge(item), { maxConcurrency: 300 }).on(Refused, ({ compensate }) => compensate()),
);

/** Is blocked as soon as its first step is refused. */
const dispatch = defineWorkflow('dispatch', { version: 1, order: Body, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(ship(order.item), mail.tell({ what: order.item }).noUndo()),
);

/** Calls another order with three copies of a step's output. */
const keeping = defineWorkflow('keeping', { version: 1, order: Thrice }, () => mail.tell({ what: 'kept' }).noUndo());
const bulky = defineWorkflow('bulky', { version: 1, order: Bulk }, ({ order }) => {
  const described = stock.describe({ characters: order.characters }).undo(({ id }) => stock.release({ id }));
  const { text } = described.output;
  return sequence(described, call(keeping, { one: text, two: text, three: text })).on(InputTooLarge, ({ compensate }) => compensate());
});

/** The called order ends long before the caller continues, and the caller may still undo it. */
const voyage = defineWorkflow('voyage', { version: 1, order: Body }, ({ order }) =>
  sequence(call(stay, { item: order.item }), delay({ seconds: 7200 }), charge(order.item))
    .on(NoRoom, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** Handles the exception of another order. Only rules start it: see `ruled.ts`. */
const handling = defineWorkflow('handling', { version: 1, order: z.looseObject({ orderId: z.string() }) }, ({ order }) =>
  sequence(reserve(order.orderId), mail.tell({ what: order.orderId }).noUndo()).on(Refused, ({ compensate }) => compensate()),
);

/** Each text that begins with this is secret, in every message and record. */
export const secretWord = 'a secret of ';
/** The secret that the hotel returns for the booking with this key. */
export const secretOf = (key: string): string => secretWord + key;

/** The secrets that the hotel returns for a lock with this key; `openingOf` is the input that unlocks it. */
export const safeOf = (key: string) => ({ pin: 100 + (key.length % 900), sign: `s${key.length % 10}`, door: `door ${key.length % 7}` });
export const openingOf = (key: string) => {
  const { pin, sign, door } = safeOf(key);
  return { id: key, pin, hint: sign, door };
};
const hidden = '[secret]';
/** The content of a safe, and the input that unlocks it, as a person may see them. */
export const masked = {
  inputs: { 'hotel.unlock': (id: string) => ({ ...openingOf(id), pin: hidden, hint: hidden }) },
  outputs: { 'hotel.lock': (id: string) => ({ id, safe: { ...safeOf(id), pin: hidden, sign: hidden } }) },
};

const app = defineApp({
  workflows: [
    sale,
    pair,
    lines,
    approval,
    trip,
    stay,
    stayLater,
    visit,
    weekend,
    journey,
    tour,
    renewal,
    entry,
    letter,
    staySafely,
    picking,
    packing,
    guessing,
    wide,
    rush,
    dispatch,
    keeping,
    bulky,
    voyage,
    handling,
    ...objectWorkflows,
  ],
  agents: [stock, bank, carrier, hotel, mail, ledger],
});

/** Workflows that a client may submit, each with the body of an order. */
export const offers: readonly { readonly workflow: string; readonly body: { readonly [field: string]: string | string[] | number } }[] = [
  ...['approval', 'trip', 'weekend', 'journey', 'tour', 'renewal'].map((workflow) => ({
    workflow,
    body: { item: 'tea' },
  })),
  ...['sale', 'pair', 'entry', 'letter'].map((workflow) => ({ workflow, body: { item: `${secretWord}tea` } })),
  { workflow: 'weekend', body: { item: 'more than whoever is called takes' } },
  { workflow: 'lines', body: { items: ['tea', 'cup', 'pot'] } },
  // The undo entries of all these steps do not fit into the state: they go into pages.
  { workflow: 'lines', body: { items: Array.from({ length: 24 }, (_, index) => `item ${index}`) } },
];

/** An order that only some worlds submit: see `addThemes`. */
export const staySafelyOffer: (typeof offers)[number] = { workflow: 'stay', body: { item: 'gem' } };

/** The orders of some worlds, in which each run may find something other than the run before. */
export const pickingOffers: typeof offers = ['picking', 'packing', 'guessing', 'picking', 'packing'].map((workflow) => ({
  workflow,
  body: { item: 'tea' },
}));

/** An order that only some worlds submit: see `bulk.ts`. */
export const dispatchOffer: (typeof offers)[number] = { workflow: 'dispatch', body: { item: 'tea' } };

/** An order that only some worlds submit: see `second-lives.ts`. */
export const voyageOffer: (typeof offers)[number] = { workflow: 'voyage', body: { item: 'tea' } };

/** The remote services behind the operations of one host. */
export interface Remote {
  asked(operation: string, input: unknown, call: Call<string>): Promise<unknown>;
  looked(operation: string, key: string, call: Call<string>): Promise<unknown>;
  /** The handlers behind the consumers, in worlds with consumers. */
  readonly handlers?: Handlers;
}

/** The deployment that a host belongs to. `edited`: a changed workflow under the version of the old one. */
export type Release = 'old' | 'new' | 'edited';

const workflowsIn: { readonly [release in Release]: App['workflows'] } = {
  old: app.workflows,
  new: [...app.workflows, newerSale],
  edited: app.workflows.map((workflow) => (workflow === sale ? editedSale : workflow)),
};

/** Returns the app as one host runs it. */
export const appOn = (remote: Remote, release: Release = 'old'): App => ({
  workflows: workflowsIn[release],
  consumers: consumersOn(remote.handlers as Handlers),
  channels,
  agents: app.agents.map(({ name, operations }) => ({
    name,
    operations: Object.fromEntries(
      Object.entries(operations).map(([key, { lookup, ...described }]) => {
        const operation = `${name}.${key}`;
        const run = (input: unknown, asked: unknown) => remote.asked(operation, input, asked as Call<string>);
        const find = (effect: string, asked: unknown) => remote.looked(operation, effect, asked as Call<string>);
        return [key, { ...described, run, ...(lookup ? { lookup: find } : {}) }];
      }),
    ),
  })),
});

/** The definitions that the hosts of each deployment load. */
export const loaded: { readonly [release in Release]: Definitions } = {
  old: loadDefinitions(appOn({} as Remote, 'old')),
  new: loadDefinitions(appOn({} as Remote, 'new')),
  edited: loadDefinitions(appOn({} as Remote, 'edited')),
};
/** All versions of all workflows. */
export const definitions: Definitions = loaded.new;
