import {
  askOperator,
  call,
  defineAgent,
  defineApp,
  defineConsumer,
  defineWorkflow,
  delay,
  fault,
  messageType,
  operation,
  PermanentFailure,
  parallel,
  raise,
  sequence,
  TransientFailure,
} from 'redress';
import * as z from 'zod';

const Note = z.object({ note: z.string() });
const Order = z.object({ item: z.string() });

const run = ({ note }: { note: string }): { note: string } => {
  if (note === 'sold out') throw new PermanentFailure('SoldOut', 'There is none left.');
  if (note === 'nobody there') throw new TransientFailure('Nobody is there.');
  return { note };
};

const stock = defineAgent('stock', { take: operation({ input: Note, output: Note, attemptsMax: 2, writes: ['stock/{note}'], run }) });
const stamp = ({ note }: { note: string }): { note: string } => {
  if (note === 'no way') throw new TransientFailure('There is no way there.', { nothingSent: true });
  return { note };
};
const post = defineAgent('post', {
  send: operation({ input: Note, output: Note, attemptsMax: 2, run }),
  stamp: operation({ input: Note, output: Note, atMostOnce: true, attemptsMax: 1, run: stamp }),
});

const one = defineWorkflow('one', { version: 1, order: Order }, ({ order }) => sequence(stock.take({ note: order.item })));

/** Requests both agents in parallel, then waits, with a journal of more than one page. */
const both = defineWorkflow('both', { version: 1, order: Order, maxFailures: 0 }, ({ order }) =>
  sequence(
    parallel(stock.take({ note: order.item }), post.send({ note: order.item })),
    delay({ seconds: 30 }),
    stock.take({ note: order.item }).named('take-more'),
    post.send({ note: order.item }).named('send-more'),
    stock.take({ note: order.item }).named('take-last'),
  ),
);
const later = defineWorkflow('later', { version: 1, order: Order }, ({ order }) =>
  sequence(delay({ seconds: 30 }), stock.take({ note: order.item })),
);
/** Requests an at-most-once operation. */
const stamped = defineWorkflow('stamped', { version: 1, order: Order }, ({ order }) => sequence(post.stamp({ note: order.item })));
/** Completes as soon as it starts. */
const nothing = defineWorkflow('nothing', { version: 1, order: Order }, () => sequence());

const Spoilt = fault('Spoilt');
const failing = defineWorkflow('failing', { version: 1, order: Order, toOperator: [Spoilt] }, () => raise(Spoilt, 'At once.'));
/** Asks a group of people. */
const asking = defineWorkflow('asking', { version: 1, order: Order, people: { group: 'nobody' } }, () =>
  sequence(askOperator('ask', { question: 'What now?', answer: Note })),
);
/** Starts with calls: one order requests both agents, one waits for a person. */
const inner = defineWorkflow('inner', { version: 1, order: Order }, ({ order }) =>
  parallel(call(both, { item: order.item }), call(later, { item: order.item }), call(failing, { item: order.item })),
);
const outer = defineWorkflow('outer', { version: 1, order: Order, toOperator: [Spoilt] }, ({ order }) =>
  sequence(call(nothing, { item: order.item }), call(inner, { item: order.item })),
);

/** Starts an order of each kind, and cancels it. */
const ledger = defineConsumer('ledger', {
  entry: messageType({
    body: Note,
    async handle({ note }, { orders, messageId }) {
      run({ note });
      for (const workflow of ['both', 'outer', 'later', 'nothing', 'failing']) {
        const submitted = await orders.submit({ workflow, idempotencyKey: `${messageId}/${workflow}`, order: { item: note } });
        if (submitted.outcome !== 'accepted') throw new PermanentFailure('Refused', 'The order is not accepted.');
        const { orderId } = submitted.order;
        if ((await orders.get(orderId)) && workflow !== 'nothing') await orders.cancel(orderId, 'a mistake');
      }
    },
  }),
});

/** A small app that needs every right that a role can use. */
export default defineApp({
  workflows: [one, both, later, stamped, nothing, failing, asking, inner, outer],
  agents: [stock, post],
  consumers: [ledger],
});
