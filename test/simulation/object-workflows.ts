import { defineWorkflow, delay, type Expr, parallel, sequence } from 'redress';
import * as z from 'zod';
import { Refused, stock } from './stock.ts';

/** Two lots, and how long an order waits between its steps and before its end. */
const Deal = z.object({ lot: z.string(), to: z.string(), wait: z.number(), last: z.number() });

const book = (lot: Expr<string>, name = 'book') =>
  stock
    .book({ lot })
    .named(name)
    .undo(({ id }) => stock.release({ id }));
const move = (lot: Expr<string>, to: Expr<string>) => stock.move({ lot, to }).undo(({ id }) => stock.release({ id }));
const take = (lot: Expr<string>, name = 'take') =>
  stock
    .take({ lot })
    .named(name)
    .undo(({ id }) => stock.release({ id }));
const check = (lot: Expr<string>) => stock.check({ lot }).noUndo();

/** Books a lot, moves it, and takes from the other one. */
const receipt = defineWorkflow('receipt', { version: 1, order: Deal }, ({ order }) =>
  sequence(
    book(order.lot),
    delay({ seconds: order.wait }).named('rest'),
    move(order.lot, order.to),
    take(order.to),
    delay({ seconds: order.last }).named('stay'),
  ).on(Refused, ({ compensate }) => compensate()),
);

/** Only reads, and ends soon: the consumer of what others write. If a lot is refused, the order waits for a person. */
const withdrawal = defineWorkflow('withdrawal', { version: 1, order: Deal, toOperator: [Refused] }, ({ order }) =>
  sequence(check(order.lot), delay({ seconds: order.wait }), take(order.lot), check(order.to).named('check-again')),
);

/** Reads and writes side by side, with a faulty branch that recovers or is undone. */
const exchange = defineWorkflow('exchange', { version: 1, order: Deal, toOperator: [Refused] }, ({ order }) =>
  sequence(
    take(order.lot),
    parallel(
      sequence(move(order.lot, order.to), delay({ seconds: order.wait }).named('rest'), take(order.to, 'take-more')).named('there'),
      sequence(book(order.lot, 'book-anew'), check(order.to)).named('back'),
    ).named('both'),
    delay({ seconds: order.last }).named('stay'),
  ),
);

/** Reads a lot first, and then works on it in two branches: a recovery of the branches leaves the first read as it is. */
const assembly = defineWorkflow('assembly', { version: 1, order: Deal, toOperator: [Refused] }, ({ order }) =>
  sequence(
    check(order.lot),
    parallel(sequence(move(order.lot, order.to), take(order.to, 'take-more')).named('there'), take(order.lot, 'take-spare')).named('both'),
    delay({ seconds: order.last }).named('stay'),
  ),
);

export const objectWorkflows = [receipt, withdrawal, exchange, assembly];
