import {
  askOperator,
  assign,
  ChildNotCompleted,
  call,
  cel,
  choice,
  compensate,
  compute,
  DeadlineExceeded,
  defineWorkflow,
  delay,
  EngineFault,
  type Expr,
  fault,
  forEach,
  NoSignal,
  otherwise,
  parallel,
  raise,
  repeatWhile,
  retry,
  scope,
  sequence,
  terminate,
  variable,
  waitFor,
  when,
  withOutput,
} from 'redress';
import * as z from 'zod';
import { AddressInvalid, CardDeclined, charge, enter, Item, OutOfStock, post, print, Refused, reserve, ship, tell } from './shop.ts';

const Items = z.object({ items: z.array(z.string()) });
export const items = (...names: readonly string[]) => ({ items: names });
const toOperator = [AddressInvalid];

/** Steps in a row, a retry, and a handler that undoes completed steps. */
export const sale = defineWorkflow('sale', { version: 1, order: Item, toOperator }, ({ order }) =>
  sequence(
    reserve(order.item),
    retry(charge(order.item), { retries: 2, intervalSeconds: 5, except: [CardDeclined] }),
    ship(order.item),
    tell(order.item),
  ).on(Refused, ({ compensate }) => sequence(compensate(), tell(order.item, 'apologise'))),
);

/** Steps side by side. */
export const pair = defineWorkflow('pair', { version: 1, order: Item }, ({ order }) =>
  parallel(reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** A step over its failure limit raises a fault. */
export const strict = defineWorkflow('strict', { version: 1, order: Item, onExhausted: 'fault', maxFailures: 1, toOperator }, ({ order }) =>
  sequence(reserve(order.item), charge(order.item), ship(order.item))
    .on(DeadlineExceeded, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** An order over its failure limit is undone. */
export const wary = defineWorkflow('wary', { version: 1, order: Item, onExhausted: 'undo', maxFailures: 1 }, ({ order }) =>
  sequence(reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** An order over its failure limit is recovered as a whole. */
export const whole = defineWorkflow('whole', { version: 1, order: Item, recover: 'order', toOperator }, ({ order }) =>
  sequence(reserve(order.item), charge(order.item), ship(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** A time limit for the whole order. */
export const hasty = defineWorkflow('hasty', { version: 1, order: Item, completeWithinSeconds: 12 }, ({ order }) =>
  sequence(reserve(order.item), delay({ seconds: 8 }), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** Nested scopes, one of them undone by its name. */
export const scopes = defineWorkflow('scopes', { version: 1, order: Item, toOperator }, ({ order }) =>
  sequence(
    scope('first', sequence(reserve(order.item), charge(order.item, 'deposit'))),
    scope(
      'second',
      sequence(reserve(order.item, 'reserve-more'), charge(order.item)).on(CardDeclined, ({ compensate }) =>
        sequence(compensate(), tell(order.item, 'warn')),
      ),
    ),
    ship(order.item),
  )
    .on(OutOfStock, () => sequence(compensate('first'), tell(order.item, 'apologise')))
    .on(Refused, ({ compensate }) => compensate()),
);

/** Runs that are undone before the next one. */
export const again = defineWorkflow('again', { version: 1, order: Item }, ({ order }) =>
  retry(scope('all', sequence(reserve(order.item), charge(order.item))), {
    retries: 2,
    intervalSeconds: 3,
    evenPermanent: true,
    undoFirst: true,
  }).on(Refused, ({ compensate }) => compensate()),
);

/** A handler that fails itself. */
export const clumsy = defineWorkflow('clumsy', { version: 1, order: Item, toOperator }, ({ order }) =>
  sequence(
    reserve(order.item),
    scope('pay', charge(order.item)).on(CardDeclined, () => ship(order.item, 'return')),
  ).on(Refused, ({ compensate }) => compensate()),
);

/** Entries in their order, two at a time. */
export const lines = defineWorkflow('lines', { version: 1, order: Items }, ({ order }) =>
  forEach(order.items, (item) => reserve(item), { maxConcurrency: 2 }).on(Refused, ({ compensate }) => compensate()),
);

/** Entries until one of them is good enough. */
export const search = defineWorkflow('search', { version: 1, order: Items }, ({ order }) =>
  forEach(order.items, (item) => {
    const found = reserve(item);
    return { do: found, until: cel<boolean>`${found.output.id} != ""` };
  }).on(Refused, ({ compensate }) => compensate()),
);

const left = variable<number>('left');
/** Turns, variables and waits. */
export const turns = defineWorkflow('turns', { version: 1, order: z.object({ times: z.number() }) }, ({ order }) =>
  sequence(
    assign(left, order.times),
    repeatWhile(
      cel<boolean>`${left} > 0`,
      sequence(tell('again' as unknown as Expr<string>), delay({ seconds: 2 }), assign(left, cel`${left} - 1`)),
      {
        maxTurns: 3,
      },
    ),
  ),
);

const NotEnough = fault('NotEnough');
const price = compute(
  'same-history-price',
  { version: 1, input: z.object({ amount: z.number() }), output: z.object({ price: z.number() }) },
  ({ amount }) => {
    if (amount < 0) throw new Error('Nobody orders less than nothing.');
    return { price: amount * 3 };
  },
);
/** An order whose body decides its way. */
export const ways = defineWorkflow(
  'ways',
  { version: 1, order: z.object({ amount: z.number() }), toOperator: [NotEnough] },
  ({ order }) => {
    const quoted = price({ amount: order.amount });
    return sequence(
      reserve('much' as unknown as Expr<string>),
      quoted,
      choice(
        when(cel<boolean>`${quoted.output.price} > 100`, charge('much' as unknown as Expr<string>)),
        when(cel<boolean>`${quoted.output.price} > 50`, terminate()),
        when(cel<boolean>`${quoted.output.price} == 0`, raise(NotEnough, 'Nothing is wanted.')),
        otherwise(tell('little' as unknown as Expr<string>)),
      ),
    ).on(Refused, ({ compensate }) => compensate());
  },
);

/** A signal must arrive in time. */
export const approval = defineWorkflow('approval', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), waitFor('approved', z.object({ by: z.string() }), { withinSeconds: 20 }), charge(order.item))
    .on(NoSignal, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** A signal without a time limit. */
export const agreed = defineWorkflow('agreed', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), waitFor('approved', z.object({ by: z.string() })), charge(order.item)).on(Refused, ({ compensate }) =>
    compensate(),
  ),
);

/** A question to a person. */
export const question = defineWorkflow('question', { version: 1, order: Item }, ({ order }) => {
  const right = askOperator('right', { question: 'Is it right?', answer: z.object({ yes: z.boolean() }) });
  return sequence(
    reserve(order.item),
    right,
    choice(when(cel<boolean>`${right.output.yes}`, charge(order.item)), otherwise(raise(OutOfStock, 'It is not right.'))),
  ).on(Refused, ({ compensate }) => compensate());
});

/** An at-most-once step, with a service that can look up its effect. */
export const entry = defineWorkflow('entry', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), enter(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** An at-most-once step, with a service that cannot look up its effect. */
export const letter = defineWorkflow('letter', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), post(order.item), charge(order.item))
    .on(Refused, ({ compensate }) => compensate())
    .on(EngineFault, ({ compensate }) => compensate()),
);

/** A long operation that sends heartbeats. */
export const printing = defineWorkflow('printing', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), print(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** A called workflow; the names of its steps differ from those of its callers. */
export const stay = defineWorkflow('stay', { version: 1, order: Item, toCaller: [OutOfStock] }, ({ order }) => {
  const night = reserve(order.item, 'night');
  return withOutput(sequence(night, tell(order.item, 'welcome')), { room: night.output.id });
});

export const trip = defineWorkflow('trip', { version: 1, order: Item }, ({ order }) =>
  sequence(reserve(order.item), call(stay, { item: order.item }), charge(order.item))
    .on(ChildNotCompleted, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** A call that is canceled while it runs, because a sibling fails. */
export const journey = defineWorkflow('journey', { version: 1, order: Item }, ({ order }) =>
  parallel(call(stay, { item: order.item }), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);
