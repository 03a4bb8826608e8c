import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  cel,
  defineAgent,
  defineWorkflow,
  delay,
  EngineFault,
  fault,
  forEach,
  operation,
  parallel,
  sequence,
  type WorkflowDefinition,
} from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';

const Sold = fault('Sold');
const Broken = fault('Broken');
const Empty = z.object({});
const run = () => {
  throw new Error('A rehearsal runs no operation.');
};
const hotel = defineAgent('hotel', {
  book: operation({ input: Empty, output: z.object({ room: z.string() }), faults: [Sold], run }),
  free: operation({ input: z.object({ room: z.string() }), output: Empty, faults: [Broken], run }),
});
const guide = defineAgent('guide', {
  call: operation({ input: z.object({ number: z.number().max(9) }), output: Empty, faults: [Sold], run }),
});

type Options = Pick<WorkflowDefinition, 'onExhausted' | 'recover' | 'maxFailures'>;
const Order = z.object({ number: z.number(), list: z.array(z.string()) });
const order = { number: 1, list: ['a', 'b'] };

const trip = (options: Options = {}) =>
  defineWorkflow('trip', { version: 1, order: Order, ...options }, ({ order }) =>
    sequence(
      hotel.book({}).undo(({ room }) => hotel.free({ room })),
      guide.call({ number: order.number }),
    )
      .on(Sold, ({ compensate }) => compensate())
      .on(EngineFault, ({ compensate }) => compensate()),
  );

describe('a rehearsal behaves like the system', () => {
  test('an unknown outcome is confirmed before it is undone', () => {
    const { steps, undone, outcome } = rehearse(trip(), order, given(hotel.book).leavesUnknown());
    assert.deepEqual(
      steps.map(({ operation, purpose, answer }) => `${operation} to ${purpose}: ${answer}`),
      ['hotel.book to do: InvalidReply', 'hotel.book to confirm: ok', 'hotel.free to undo: ok'],
    );
    assert.deepEqual([outcome, undone], ['compensated', ['order/book']]);
  });

  test('missing replies above the failure limit have the consequence that the workflow declares', () => {
    const silent = given(guide.call).isSilent();
    const outcomes = (['error', 'fault', 'undo', 'wait'] as const).map((onExhausted) => {
      const { outcome, undone, leftDone } = rehearse(trip({ onExhausted, maxFailures: 1 }), order, silent);
      return { onExhausted, outcome, undone, leftDone };
    });
    assert.deepEqual(outcomes, [
      { onExhausted: 'error', outcome: 'blocked', undone: [], leftDone: ['order/book', 'order/call?'] },
      { onExhausted: 'fault', outcome: 'compensated', undone: ['order/book'], leftDone: ['order/call?'] },
      { onExhausted: 'undo', outcome: 'compensated', undone: ['order/book'], leftDone: ['order/call?'] },
      { onExhausted: 'wait', outcome: 'stuck', undone: [], leftDone: ['order/book', 'order/call?'] },
    ]);
  });

  test("an order with recover: 'order' is claimed again after a missing reply, and continues at the same place", () => {
    const { commands, story } = rehearse(trip({ recover: 'order' }), order, given(guide.call).isSilent(2));
    assert.equal(story(), 'hotel.book ok, guide.call silent, guide.call silent, guide.call ok, completed');
    assert.deepEqual(
      commands.map((command) => command.type === 'request' && command.epoch),
      [1, 1, 2, 3],
    );
  });

  test('an undo that its service refuses permanently is stuck', () => {
    const { outcome, leftDone, why } = rehearse(trip(), order, given(guide.call).faults(Sold), given(hotel.free).faults(Broken));
    assert.deepEqual([outcome, leftDone], ['stuck', ['order/book']]);
    assert.match(why(), /^Undoes what was done: hotel failed to free \(order\/book\/undo\), and gets the next request at /);
  });

  test('an undo that succeeds after many failures does not count as stuck', () => {
    const sold = given(guide.call).faults(Sold);
    assert.equal(rehearse(trip(), order, sold, given(hotel.free).failsForNow(8)).outcome, 'compensated');
    const seldom = Array.from({ length: 6 }, (_, index) =>
      given(hotel.free)
        .faults(Broken)
        .nth(index + 1),
    );
    assert.equal(rehearse(trip(), order, sold, ...seldom).outcome, 'compensated');
  });

  test('an input that does not match the schema of its operation is refused by the agent', () => {
    const { story, steps } = rehearse(trip(), { ...order, number: 10 });
    assert.equal(story(), 'hotel.book ok, guide.call RequestRefused, hotel.free ok, compensated');
    assert.deepEqual(steps[1]?.input, { number: 10 });
  });

  test('waits and loops take no time', () => {
    const long = defineWorkflow('long', { version: 1, order: Order, toOperator: [Sold] }, ({ order }) =>
      sequence(
        delay({ seconds: 86_400 }),
        forEach(order.list, () => guide.call({ number: 1 })),
      ),
    );
    const { story, tookMs } = rehearse(long, order);
    assert.equal(story(), 'guide.call ok, guide.call ok, completed');
    assert.equal(tookMs, 86_400_000);
    assert.deepEqual(
      rehearse.every(long, order).rows.map(({ step, fault, outcome }) => [step, fault, outcome]),
      [
        ['', '', 'completed'],
        ['order/list[0]/call', 'Sold', 'blocked'],
        ['order/list[0]/call', 'silence', 'blocked'],
        ['order/list[0]/call', 'outcome unknown', 'blocked'],
      ],
    );
  });

  test('a step that is canceled while its request is under way completes and is undone', () => {
    const both = defineWorkflow('both', { version: 1, order: Order }, () =>
      sequence(
        parallel(
          guide.call({ number: 1 }),
          hotel.book({}).undo(({ room }) => hotel.free({ room })),
        ),
      ).on(Sold, ({ compensate }) => compensate()),
    );
    assert.equal(
      rehearse(both, order, given(guide.call).faults(Sold)).story(),
      'guide.call Sold, hotel.book ok, hotel.free ok, compensated',
    );
  });
});

describe('at-most-once steps in a rehearsal', () => {
  const room = { input: Empty, output: Empty, atMostOnce: true, run } as const;
  const bank = defineAgent('bank', {
    pay: operation(room),
    trace: operation({ ...room, lookup: () => undefined }),
    payBack: operation({ input: Empty, output: Empty, run }),
  });
  const storyOf = (step: typeof bank.pay, ...whens: Parameters<typeof rehearse>[2][]) => {
    const workflow = defineWorkflow('pays', { version: 1, order: Order, onExhausted: 'error' }, () =>
      sequence(step({}).undo(() => bank.payBack({}))),
    );
    return rehearse(workflow, order, ...whens).story();
  };

  test('X-20: without a reply the outcome is unknown: the step is not requested again', () => {
    assert.equal(storyOf(bank.pay, given(bank.pay).isSilent(1)), 'bank.pay silent, bank.pay OutcomeUnknown, blocked for OutcomeUnknown');
  });

  test('X-20: with a lookup, the service reports the outcome', () => {
    assert.equal(storyOf(bank.trace, given(bank.trace).isSilent(1)), 'bank.trace silent, bank.trace ok, completed');
  });

  test('X-20: after a reply "not now", which says that no call was made, the step is requested again', () => {
    assert.equal(storyOf(bank.pay, given(bank.pay).failsForNow(1)), 'bank.pay ServiceUnavailable, bank.pay ok, completed');
  });
});

describe('the answers of a rehearsal without stubs', () => {
  const answerOf = (output: z.ZodType): unknown => {
    const agent = defineAgent('oracle', { say: operation({ input: z.object({}), output, run }) });
    const workflow = defineWorkflow('asks', { version: 1, order: z.object({}) }, () => {
      const say = agent.say({});
      return sequence(say, agent.say({ seen: cel`${say.output}` } as never).named('again'));
    });
    return (rehearse(workflow, {}).steps[1]?.input as { readonly seen: unknown } | undefined)?.seen;
  };

  test('are generated from the schema of the operation, for each kind of value', () => {
    const made = answerOf(
      z.object({
        text: z.string(),
        long: z.string().min(6),
        country: z.string().regex(/^[A-Z]{2}$/),
        mail: z.email(),
        at: z.iso.datetime(),
        count: z.int().min(3),
        share: z.number().max(0.5),
        kind: z.enum(['small', 'large']),
        tag: z.literal('x'),
        sure: z.boolean(),
        list: z.array(z.object({ sku: z.string() })).min(2),
        either: z.union([z.number(), z.string()]),
        nothing: z.null(),
        left: z.string().optional(),
      }),
    );
    assert.deepEqual(made, {
      text: 'text',
      long: 'longxx',
      country: 'AA',
      mail: 'somebody@example.com',
      at: '2026-01-01T00:00:00Z',
      count: 3,
      share: 0.5,
      kind: 'small',
      tag: 'x',
      sure: true,
      list: [{ sku: 'sku' }, { sku: 'sku' }],
      either: 1,
      nothing: null,
    });
  });

  test('cannot be generated from every schema: then the error names the operation', () => {
    assert.throws(
      () => answerOf(z.string().regex(/^ab[0-9]-\w{3}$/)),
      /^Error: Cannot make up an answer of oracle\.say \(order\/say\): "oracle\.say" violates its schema: .*Add a stub: given\(oracle\.say\)\.answers/,
    );
  });

  test('need a stub for a definition that was read as data, because it has no schemas', () => {
    const read = JSON.parse(JSON.stringify(trip())) as WorkflowDefinition;
    assert.throws(() => rehearse(read, order), /Cannot make up an answer of hotel\.book \(order\/book\): its schema is unknown/);
    const whens = [given(hotel.book).answers({ room: '7' }), given(guide.call).answers({})];
    assert.equal(rehearse(read, order, ...whens).outcome, 'completed');
  });
});
