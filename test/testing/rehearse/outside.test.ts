import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compute,
  defineAgent,
  defineWorkflow,
  delay,
  forEach,
  operation,
  parallel,
  sequence,
  type WorkflowDefinition,
  waitFor,
} from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';
import { approval, approved } from '../../../examples/activities/ask-operator.ts';
import { priced } from '../../../examples/activities/compute.ts';
import { identified, whenIdentified } from '../../../examples/activities/wait-for.ts';

const Empty = z.object({});
const paid = waitFor('paid', z.object({ amount: z.int().min(1) }));
const desk = defineAgent('desk', {
  print: operation({ input: z.object({ amount: z.number() }), output: Empty, run: () => ({}) }),
});
const untilPaid = defineWorkflow('until-paid', { version: 1, order: Empty }, () =>
  sequence(paid, desk.print({ amount: paid.output.amount })),
);

describe('signals, in a rehearsal', () => {
  const order = { sku: 'wine' };

  test('the payload of a signal is read by later activities', () => {
    const run = rehearse(whenIdentified, order, given(identified).comes({ adult: false }, { afterSeconds: 3600 }));
    assert.equal(run.story(), 'signal identified ok, customer.tell ok, completed');
    assert.equal(run.tookMs, 3_600_000);
    assert.deepEqual(run.waits, [{ path: 'order/identified', operation: 'signal identified', at: 0 }]);
  });

  test('with a limit, a missing or late signal is a fault', () => {
    for (const late of [[], [given(identified).isMissing()], [given(identified).comes({ adult: true }, { afterSeconds: 172_801 })]]) {
      const run = rehearse(whenIdentified, order, ...late);
      assert.equal(run.story(), 'signal identified NoSignal, customer.tell ok, completed');
      assert.equal(run.tookMs, 172_800_000);
    }
  });

  test('without a limit, the rehearsal ends where the order waits', () => {
    const run = rehearse(untilPaid, {});
    assert.equal(run.outcome, 'waits');
    assert.equal(run.story(), 'waits for the signal paid');
    assert.equal(rehearse(untilPaid, {}, given(paid).comes({ amount: 5 })).story(), 'signal paid ok, desk.print ok, completed');
  });

  test('each wait gets its own signal', () => {
    const all = defineWorkflow('all', { version: 1, order: z.object({ list: z.array(z.string()) }) }, ({ order }) =>
      forEach(order.list, () => sequence(paid, desk.print({ amount: paid.output.amount })), { maxConcurrency: 1 }),
    );
    const whens = [given(paid).comes({ amount: 5 }).once(), given(paid).comes({ amount: 7 }, { afterSeconds: 10 })];
    const { steps, tookMs } = rehearse(all, { list: ['a', 'b'] }, ...whens);
    assert.deepEqual(
      steps.map(({ input }) => input),
      [{ amount: 5 }, { amount: 7 }],
    );
    assert.equal(tookMs, 10_000);
  });

  test('a payload that violates its schema is refused', () => {
    assert.throws(
      () => rehearse(untilPaid, {}, given(paid).comes({ amount: 0 })),
      /Invalid stub: signal paid \(order\/paid\) has an output schema that rejects \{"amount":0\}: .*>=1/,
    );
  });

  test('a signal has the declared payload', () => {
    // @ts-expect-error: an amount
    given(paid).comes({ sum: 5 });
    // @ts-expect-error: a signal has no answers
    assert.throws(() => given(paid).answers({ amount: 5 }));
  });

  test('a year of waiting takes no time', () => {
    const long = defineWorkflow('long', { version: 1, order: Empty }, () => sequence(delay({ seconds: 300 * 86_400 }), paid));
    assert.equal(rehearse(long, {}, given(paid).comes({ amount: 1 }, { afterSeconds: 60 * 86_400 })).tookMs, 360 * 86_400_000);
  });
});

describe('questions to people, in a rehearsal', () => {
  const order = { sku: 'gold', total: 4000 };

  test('the order is blocked until a person answers', () => {
    const run = rehearse(approved, order, given(approval).answers({ approved: true, why: '' }, { afterSeconds: 60 }));
    assert.equal(run.story(), 'inventory.reserve ok, question approval ok, payment.charge ok, shipping.ship ok, completed');
    assert.equal(run.tookMs, 60_000);
  });

  test('without an answer the order stays blocked', () => {
    const run = rehearse(approved, order);
    assert.equal(run.story(), 'inventory.reserve ok, blocked for the question approval');
    assert.equal(run.outcome, 'blocked');
    assert.equal(run.fault?.message, 'Is an order of 4000 right?');
    assert.equal(rehearse(approved, order, given(approval).isNotAnswered()).outcome, 'blocked');
  });

  test('an answer has the type that the question declares', () => {
    // @ts-expect-error: it is about approval
    given(approval).answers({ accepted: true });
    // @ts-expect-error: a question has no signals
    assert.throws(() => given(approval).comes({ approved: true, why: '' }));
  });

  test('while the order is blocked, replies of other branches are kept', () => {
    const both = defineWorkflow('both', { version: 1, order: z.object({ sku: z.string(), total: z.number() }) }, ({ order }) =>
      parallel(approval(order), sequence(desk.print({ amount: 1 }).named('one'), desk.print({ amount: 2 }).named('two'))),
    );
    assert.equal(
      rehearse(both, order, given(approval).answers({ approved: true, why: '' })).story(),
      'desk.print ok, question approval ok, desk.print ok, completed',
    );
  });
});

describe('functions of the app, in a rehearsal', () => {
  const items = [{ price: 10, quantity: 7 }];

  test('a rehearsal runs the real functions', () => {
    assert.deepEqual(rehearse(priced, { items }).steps[0]?.input, { amount: 50 });
    assert.equal(rehearse(priced, { items: [] }).story(), 'customer.tell ok, completed');
  });

  let calls = 0;
  const Count = z.object({ count: z.number() });
  const counted = compute('counted', { version: 1, input: Empty, output: Count }, () => ({ count: ++calls }));
  const sorted = compute('sorted', { version: 1, input: z.array(z.number()), output: Count }, (list) => ({ count: list.sort()[0] ?? 0 }));

  test('a function that is not pure is reported', () => {
    const impure = defineWorkflow('impure', { version: 1, order: Empty }, () => counted({}));
    assert.throws(
      () => rehearse(impure, {}),
      /^Error: Function counted@1 \(order\/counted\) is not pure: for the same input it returned \{"count":1\} and then \{"count":2\}\. Pass everything it depends on as input\.$/,
    );
  });

  test('a change that a function makes to its input has no effect', () => {
    const tidy = defineWorkflow('tidy', { version: 1, order: z.object({ list: z.array(z.number()) }) }, ({ order }) => {
      const first = sorted(order.list);
      return sequence(
        first,
        forEach(order.list, (item) => desk.print({ amount: item }), { maxConcurrency: 1 }),
      );
    });
    const { steps } = rehearse(tidy, { list: [3, 1, 2] });
    assert.deepEqual(
      steps.map(({ input }) => input),
      [{ amount: 3 }, { amount: 1 }, { amount: 2 }],
    );
  });
});

describe('the table of every possible failure', () => {
  test('it has rows for a signal that does not come and for a person who does not answer', () => {
    assert.equal(
      rehearse.every(whenIdentified, { sku: 'wine' }, given(identified).comes({ adult: true })).table(),
      `\
step                fault                                          outcome                       undone  left done
------------------  ---------------------------------------------  ----------------------------  ------  -----------------
nothing goes wrong                                                 completed                             choice/ship
choice/ship         silence                                        blocked for DeadlineExceeded          choice/ship?
choice/ship         outcome unknown                                blocked for InvalidReply              choice/ship?
identified          NoSignal                                       completed                             on-NoSignal/tell
on-NoSignal/tell    silence, after NoSignal at identified          blocked for DeadlineExceeded          on-NoSignal/tell?
on-NoSignal/tell    outcome unknown, after NoSignal at identified  blocked for InvalidReply              on-NoSignal/tell?

Never asked for: choice/tell.
`,
    );
    const { rows, neverAsked } = rehearse.every(approved, { sku: 'gold', total: 4000 });
    assert.partialDeepStrictEqual(
      rows.find(({ step }) => step === 'order/approval'),
      { fault: 'no answer', outcome: 'blocked', leftDone: ['order/reserve'] },
    );
    assert.deepEqual(neverAsked, ['order/reserve/undo']);
    const [, , , missing] = rehearse.every(untilPaid, {}).rows;
    assert.partialDeepStrictEqual(missing, { step: 'order/paid', fault: 'no signal', outcome: 'waits' });
  });
});

test('a definition that was read as data can be rehearsed', () => {
  const read = JSON.parse(JSON.stringify(untilPaid)) as WorkflowDefinition;
  assert.equal(rehearse(read, {}, given(paid).comes({ amount: 5 }), given(desk.print).answers({})).outcome, 'completed');
});
