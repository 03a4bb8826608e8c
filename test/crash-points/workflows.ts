import {
  AnyFault,
  askOperator,
  assign,
  ChildNotCompleted,
  call,
  cel,
  choice,
  compute,
  DeadlineExceeded,
  defineWorkflow,
  delay,
  type Expr,
  forEach,
  NoSignal,
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
import { bank, CardDeclined, carrier, hotel, ledger, mail, NoRoom, OutOfStock, Refused, stock } from './agents.ts';

const Body = z.object({ item: z.string() });
const version = { version: 1, order: Body } as const;

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
const tell = (what: Expr<string>, name = 'tell') => mail.tell({ what }).named(name).noUndo();

/** The smallest workflow. */
export const one = defineWorkflow('one', version, ({ order }) => tell(order.item));

/** Steps that succeed, are refused, and are undone. */
export const undone = defineWorkflow('undone', version, ({ order }) =>
  sequence(reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** A delay and a fault. */
export const timed = defineWorkflow('timed', version, ({ order }) =>
  sequence(delay({ seconds: 90 }), raise(OutOfStock, order.item)).on(OutOfStock, () => tell(order.item)),
);

export const signal = waitFor('approved', z.object({ by: z.string() }), { withinSeconds: 4000 });
export const approval = defineWorkflow('approval', { ...version, onExhausted: 'wait' }, ({ order }) =>
  sequence(reserve(order.item), signal, charge(order.item))
    .on(NoSignal, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

/** Waits for the same signal twice: a signal that is received twice would count as two. */
export const inTurn = defineWorkflow('in-turn', { ...version, toOperator: [Refused] }, ({ order }) =>
  sequence(signal, reserve(order.item), signal.named('again')).on(NoSignal, ({ compensate }) => compensate()),
);

const twice = compute('twice', { version: 1, input: z.object({ text: z.string() }), output: z.string() }, ({ text }) => `${text}, ${text}`);
const done = variable<boolean>('done');

/** Computes, decides, loops, and runs again after a temporary fault. */
export const sale = defineWorkflow('sale', version, ({ order }) => {
  const label = twice({ text: order.item });
  const turn = sequence(stock.reserve({ what: label.output }).named('look').noUndo(), assign(done, true));
  return sequence(
    label,
    assign(done, false),
    repeatWhile(cel<boolean>`!${done}`, turn, { maxTurns: 3 }),
    retry(charge(order.item), { retries: 2, intervalSeconds: 5, except: [CardDeclined] }),
    choice(when(cel<boolean>`${order.item} == 'tea'`, tell(order.item))),
  ).on(Refused, ({ compensate }) => compensate());
});

/** A branch fails while the others are running. */
export const pair = defineWorkflow('pair', { ...version, onExhausted: 'undo' }, ({ order }) =>
  parallel(reserve(order.item), charge(order.item), tell(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** A loop whose order is reset as a whole. */
export const lines = defineWorkflow(
  'lines',
  { version: 1, order: z.object({ items: z.array(z.string()) }), recover: 'order' },
  ({ order }) => forEach(order.items, (item) => reserve(item), { maxConcurrency: 2 }).on(Refused, ({ compensate }) => compensate()),
);

export const stay = defineWorkflow('stay', { ...version, toCaller: [NoRoom] }, ({ order }) => {
  const night = hotel.book({ what: order.item }).undo(({ id }) => hotel.cancel({ id }));
  return withOutput(night, { room: night.output.id });
});

/** Undoes an order that it has called. */
export const trip = defineWorkflow('trip', version, ({ order }) =>
  sequence(call(stay, { item: order.item }), charge(order.item)).on(Refused, ({ compensate }) => compensate()),
);

/** Cancels an order that it has called, while that one runs. */
export const journey = defineWorkflow('journey', version, ({ order }) =>
  parallel(call(stay, { item: order.item }), charge(order.item))
    .on(ChildNotCompleted, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate()),
);

export const right = askOperator('right', { question: 'Is it right?', answer: z.object({ yes: z.boolean() }) });
export const asking = defineWorkflow('asking', version, ({ order }) =>
  sequence(reserve(order.item), right, tell(order.item)).on(Refused, ({ compensate }) => compensate()),
);

export const entry = defineWorkflow('entry', version, ({ order }) =>
  sequence(
    ledger.enter({ what: order.item }).undo(({ id }) => ledger.strike({ id })),
    charge(order.item),
  ).on(Refused, ({ compensate }) => compensate()),
);

export const letter = defineWorkflow('letter', version, ({ order }) =>
  sequence(
    ledger.post({ what: order.item }).undo(({ id }) => ledger.strike({ id })),
    charge(order.item),
  ).on(Refused, ({ compensate }) => compensate()),
);

/** Steps that are undone in the middle, and before they run again; with a time limit for the whole. */
export const renewal = defineWorkflow('renewal', { ...version, onExhausted: 'fault', completeWithinSeconds: 900 }, ({ order }) => {
  const first = sequence(reserve(order.item), charge(order.item)).on(Refused, ({ compensate }) => compensate());
  const second = sequence(reserve(order.item, 'reserve-more'), charge(order.item, 'charge-more'));
  return sequence(
    scope('first', first),
    retry(scope('second', second), { retries: 2, intervalSeconds: 10, evenPermanent: true, undoFirst: true }),
    tell(order.item),
  )
    .on(DeadlineExceeded, ({ compensate }) => compensate())
    .on(Refused, ({ compensate }) => compensate());
});

/** The time limit of the whole passes while a step is running. */
export const hurried = defineWorkflow(
  'hurried',
  { ...version, toOperator: [Refused], completeWithinSeconds: 60, onExhausted: 'fault' },
  ({ order }) =>
    sequence(reserve(order.item), delay({ seconds: 120 }), charge(order.item)).on(DeadlineExceeded, ({ compensate }) => compensate()),
);

/** A step that takes longer than its message stays invisible, with a heartbeat. */
export const long = defineWorkflow('long', { ...version, toOperator: [Refused] }, ({ order }) =>
  sequence(
    reserve(order.item),
    carrier.ship({ what: order.item }).undo(({ id }) => carrier.recall({ id })),
    tell(order.item),
  ),
);

export const whole = defineWorkflow('whole', version, ({ order }) =>
  sequence(
    parallel(reserve(order.item, 'one'), reserve(order.item, 'other'))
      .named('packed')
      .undo(stock.release({ id: order.item })),
    charge(order.item),
  ).on(Refused, ({ compensate }) => compensate()),
);

export const stopped = defineWorkflow('stopped', { ...version, toOperator: [Refused] }, ({ order }) =>
  sequence(reserve(order.item), terminate()),
);

/** An undo list too long to stay in the state. */
export const heavy = defineWorkflow('heavy', version, ({ order }) =>
  sequence(
    reserve(order.item, 'one'),
    reserve(order.item, 'two'),
    reserve(order.item, 'three'),
    reserve(order.item, 'four'),
    charge(order.item),
  ).on(Refused, ({ compensate }) => compensate()),
);

/** A handler raises the fault again, and the handler for every fault undoes. */
export const raisedAgain = defineWorkflow('raised-again', version, ({ order }) =>
  sequence(
    scope('paid', sequence(reserve(order.item), charge(order.item))).on(Refused, ({ rethrow }) => sequence(tell(order.item), rethrow())),
  ).on(AnyFault, ({ compensate }) => compensate()),
);
