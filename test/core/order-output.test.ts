import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  assign,
  cel,
  compute,
  defineAgent,
  defineWorkflow,
  fault,
  type In,
  operation,
  type Ref,
  retry,
  secret,
  sequence,
  variables,
  withOutput,
} from 'redress';
import { given, instruct, rehearse } from 'redress/testing';
import * as z from 'zod';

const Full = fault('Full');
const Order = z.object({ city: z.string(), card: secret(z.string()), cards: z.array(z.object({ number: secret(z.string()) })) });
const order = { city: 'Bonn', card: '4111-1111', cards: [{ number: '4222-2222' }] };

const hotel = defineAgent('hotel', {
  book: operation({
    input: z.object({ city: z.string() }),
    output: z.object({ id: z.string(), pin: secret(z.string()) }),
    faults: [Full],
    run: async () => ({ id: 'b1', pin: '9876' }),
  }),
  cancel: operation({ input: z.object({ id: z.string() }), output: z.object({}), run: async () => ({}) }),
});
const firstFour = compute('first-four', { version: 1, input: z.object({ of: z.string() }), output: z.string() }, ({ of }) =>
  of.slice(0, 4),
);

const trip = defineWorkflow('trip', { version: 1, order: Order }, ({ order }) => {
  const book = hotel.book({ city: order.city }).undo(({ id }) => hotel.cancel({ id }));
  const also = hotel
    .book({ city: order.city })
    .named('also')
    .undo(({ id }) => hotel.cancel({ id }));
  return withOutput(
    sequence(book, retry(also, { retries: 0, intervalSeconds: 1 })).on(Full, ({ compensate }) => compensate()),
    { city: order.city, rooms: [book.output.id, also.output.id], source: 'web' },
  );
});

describe('the output of an order', () => {
  test('has the values of its expressions after the workflow has succeeded', () => {
    const run = rehearse(trip, order, given(hotel.book).answers({ id: 'r7', pin: '1234' }));
    assert.equal(run.outcome, 'completed');
    assert.deepEqual(run.output, { city: 'Bonn', rooms: ['r7', 'r7'], source: 'web' });
    assert.equal(run.fault, undefined);
  });

  test('is absent if the order is compensated, and the fault that led to it is known', () => {
    const run = rehearse(trip, order, given(hotel.book).faults(Full, 'no room').at('order/retry/also'));
    assert.deepEqual([run.outcome, run.output, run.fault?.type, run.fault?.message], ['compensated', undefined, 'Full', 'no room']);
  });

  test('is absent if the first step is refused, and the fault that led to the rejection is known', () => {
    const run = rehearse(trip, order, given(hotel.book).faults(Full));
    assert.deepEqual([run.outcome, run.output, run.fault?.type], ['rejected', undefined, 'Full']);
  });

  test('blocks the order if it has more than 16 KB', () => {
    const run = rehearse(trip, { ...order, city: 'x'.repeat(17_000) });
    assert.deepEqual([run.outcome, run.output, run.fault?.type], ['blocked', undefined, 'Engine/OutputTooLarge']);
    assert.match(run.fault?.message ?? '', /^The output of the workflow has \d+ bytes; the maximum is 16384\. Return a reference/);
  });

  test('blocks the order if it cannot be computed', () => {
    const none = defineWorkflow('none', { version: 1, order: Order, toOperator: [Full] }, ({ order }) =>
      withOutput(hotel.book({ city: order.city }).noUndo(), { street: cel<string>`${order.city}.split("/")[1]` }),
    );
    const run = rehearse(none, order);
    assert.deepEqual(
      [run.outcome, run.output, run.fault?.type, run.fault?.source],
      ['blocked', undefined, 'Engine/ExpressionFailed', 'order/output'],
    );
  });
});

describe('the fault of an order that ended without completing', () => {
  const asked = defineWorkflow('asked', { version: 1, order: Order, toOperator: [Full] }, ({ order }) =>
    hotel.book({ city: order.city }).undo(({ id }) => hotel.cancel({ id })),
  );

  for (const kind of ['cancel', 'compensate', 'terminate'] as const)
    test(`is the fault that blocked the order before an operator gave the instruction ${kind}`, () => {
      const run = rehearse(asked, order, given(hotel.book).faults(Full), instruct({ kind }));
      assert.deepEqual(run.fault?.type, 'Full');
    });
});

describe('an output that reads a secret', () => {
  type OrderRef = Ref<z.output<typeof Order>>;
  type Room = Ref<{ id: string; pin: string }>;
  const vars = variables<{ kept: string }>();

  /** Returns the first problem of a workflow with this output; undefined if it has none. */
  const refused = (
    read: (order: OrderRef, room: Room, first: Ref<string>) => In<unknown>,
    kept: (order: OrderRef) => In<string> = () => 'none',
  ) => {
    try {
      defineWorkflow('secretive', { version: 1, order: Order, toOperator: [Full] }, ({ order }) => {
        const book = hotel.book({ city: order.city }).noUndo();
        const first = firstFour({ of: kept(order) });
        return withOutput(sequence(assign(vars.kept, kept(order)), first, book), { value: read(order, book.output, first.output) });
      });
    } catch (error) {
      return (error as Error).message.split('\n')[0];
    }
    return undefined;
  };
  const message = (what: string) =>
    `secretive@1 order/output: The output of the workflow reads ${what}, which holds a secret. Leave the secret field out of the output.`;

  test('is refused for a secret field of the order, and for an object or a list that holds one', () => {
    assert.equal(
      refused((order) => order.card),
      message('order.card'),
    );
    assert.equal(
      refused((order) => order),
      message('order'),
    );
    assert.equal(
      refused((order) => order.cards),
      message('order.cards'),
    );
    assert.equal(
      refused((order) => cel<string>`${order.cards}[0].number`),
      message('order.cards[0].number'),
    );
    assert.equal(
      refused((order) => order.city),
      undefined,
    );
  });

  test('is refused for a secret field of a step', () => {
    assert.equal(
      refused((_, room) => room.pin),
      message('steps.book.pin'),
    );
    assert.equal(
      refused((_, room) => room),
      message('steps.book'),
    );
    assert.equal(
      refused((_, room) => room.id),
      undefined,
    );
  });

  test('is refused for a variable and for a computed value that come from a secret', () => {
    const card = (order: OrderRef) => order.card;
    assert.equal(
      refused(() => vars.kept, card),
      message('vars.kept'),
    );
    assert.equal(
      refused((_, __, first) => first, card),
      message('steps["first-four"]'),
    );
    assert.equal(
      refused((_, __, first) => ({ first, kept: vars.kept })),
      undefined,
    );
  });
});
