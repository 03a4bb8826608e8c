import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askOperator, call, defineAgent, defineWorkflow, delay, fault, operation, sequence, waitFor } from 'redress';
import { CrashTestError, type CrashTestOptions, crashTest, given } from 'redress/testing';
import * as z from 'zod';

const Declined = fault('Declined');
const Sum = z.object({ amount: z.number() });
const Charge = z.object({ chargeId: z.string() });

/** The test's own service: `charges` has its effects. It keeps idempotency keys only if a test says so. */
class Till {
  charges: string[] = [];
  keepsKeys = true;
  private readonly known = new Map<string, string>();

  charge(key: string): { chargeId: string } {
    const before = this.known.get(key);
    if (before !== undefined && this.keepsKeys) return { chargeId: before };
    const chargeId = `c-${this.charges.length + 1}`;
    this.charges.push(chargeId);
    this.known.set(key, chargeId);
    return { chargeId };
  }

  clear(): void {
    this.charges = [];
    this.known.clear();
  }
}

const till = new Till();
const payment = defineAgent('payment', {
  charge: operation({ input: Sum, output: Charge, faults: [Declined], run: (_, { idempotencyKey }) => till.charge(idempotencyKey) }),
  refund: operation({ input: Charge, output: z.object({}), run: () => ({}) }),
});
const post = defineAgent('post', {
  send: operation({ input: Sum, output: z.object({}), atMostOnce: true, run: () => ({}) }),
});

const day = 86_400;
const version = { version: 1, order: Sum } as const;
const paid = defineWorkflow('paid', { ...version, toOperator: [Declined] }, ({ order }) => payment.charge({ amount: order.amount }));
const sent = defineWorkflow('sent', version, ({ order }) => post.send({ amount: order.amount }));
const hasty = defineWorkflow('hasty', { ...version, maxFailures: 0, onExhausted: 'undo', toOperator: [Declined] }, ({ order }) =>
  payment.charge({ amount: order.amount }).undo(({ chargeId }) => payment.refund({ chargeId })),
);

const failureOf = async (...args: Parameters<typeof crashTest<{ amount: number }, unknown, never>>): Promise<CrashTestError> => {
  const error: unknown = await crashTest(...args).then(
    () => assert.fail('It is not rejected.'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CrashTestError, String(error));
  return error;
};

const real = (check: CrashTestOptions['check'] & object): CrashTestOptions<{ amount: number }> => ({
  order: { amount: 40 },
  real: [payment],
  beforeEach: () => till.clear(),
  check,
});

describe('F-58: a crash test', () => {
  test('kills the process at each of its calls, and counts the outcomes', async () => {
    const { points, runs, outcome, outcomes, blocks } = await crashTest(paid, [payment], { order: { amount: 40 } });
    assert.deepEqual([outcome, outcomes, blocks], ['completed', { completed: runs }, []]);
    assert.equal(runs, 3 * points.length);
    assert.deepEqual(
      points.map(({ where }) => where).filter((where) => /create|update|charge/.test(where)),
      ['submit: store.create (rev 1)', 'agent payment: payment.charge (order/charge)', 'scheduler: store.update (rev 2)'],
    );
  });

  test('calls no function of the user by default', async () => {
    till.clear();
    await crashTest(paid, [payment], { only: '1 before' });
    assert.deepEqual(till.charges, []);
  });

  test('takes the replies of agents from stubs, as a rehearsal does', async () => {
    const { outcomes, runs } = await crashTest(paid, [payment], { stubs: given(payment.charge).faults(Declined) });
    assert.deepEqual(outcomes, { blocked: runs });
  });

  test('reports the crash points at which an at-most-once step blocks the order', async () => {
    const { outcomes, blocks } = await crashTest(sent, [post]);
    assert.ok((outcomes.completed ?? 0) > 0);
    assert.deepEqual(
      blocks.map(({ crash, where }) => `${crash.split(' ')[1]} ${where}`),
      [
        'applied agent post: store.recordIntent',
        'after agent post: store.recordIntent',
        'before agent post: post.send (order/send)',
        'applied agent post: post.send (order/send)',
        'after agent post: post.send (order/send)',
        'before agent post: queues.send (post-replies)',
      ],
    );
    const { message } = await failureOf(sent, [post], { mayBlock: false });
    assert.match(message, /the order is blocked for OutcomeUnknown, and without a crash it ended as completed/);
  });

  test('F-37: requests an at-most-once step again if the service was not reached', async () => {
    const { outcome } = await crashTest(sent, [post], { stubs: given(post.send).failsForNow(1), only: '1 before' });
    assert.equal(outcome, 'completed');
  });

  test('takes no real time for days of waiting: time jumps to the next deadline', async () => {
    const patient = defineWorkflow('patient', { version: 1, order: Sum, toOperator: [Declined] }, ({ order }) =>
      sequence(payment.charge(order), delay({ seconds: 30 * 86_400 }), payment.charge(order).named('again')),
    );
    const { outcome, points } = await crashTest(patient, [payment], { only: '1 before' });
    assert.equal(outcome, 'completed');
    assert.ok(points.length < 200, `${points.length} calls`);
  });

  test('makes as many calls of the store and the queues for an order that waits for three days as for one that waits for an hour', async () => {
    const calls = async (waits: ReturnType<typeof lineOf>, seconds: number): Promise<number> => {
      const counts: number[] = [];
      const stubs = given(approval).comes({}, { afterSeconds: seconds });
      const { points } = await crashTest(waits, [payment], {
        stubs,
        only: '1 before',
        check: ({ story }) => void counts.push(story.length),
      });
      return Math.max(...counts, points.length);
    };
    const approval = waitFor('approval', z.object({}), { withinSeconds: 30 * day });
    const lineOf = (seconds: number) =>
      defineWorkflow('line', { version: 1, order: Sum, toOperator: [Declined] }, ({ order }) =>
        sequence(payment.charge(order), delay({ seconds }), approval),
      );
    const anHour = await calls(lineOf(3600), 3600);
    assert.ok((await calls(lineOf(3 * day), 3 * day)) <= anHour + 3);
    assert.ok((await calls(lineOf(300 * day), 29 * day)) <= anHour + 3);
  });

  test('makes as many calls until a missing signal exceeds a limit of three days as for a limit of an hour', async () => {
    const calls = async (withinSeconds: number): Promise<number> => {
      const counts: number[] = [];
      const waits = defineWorkflow('waits', { version: 1, order: Sum }, () => waitFor('approval', z.object({}), { withinSeconds }));
      const { outcome } = await crashTest(waits, [], { only: '1 before', check: ({ story }) => void counts.push(story.length) });
      assert.equal(outcome, 'blocked');
      return Math.max(...counts);
    };
    const anHour = await calls(3600);
    assert.ok((await calls(3 * day)) <= anHour + 12);
  });

  test('makes a single sweep for an order that only waits, and not one in each hour', async () => {
    const patient = defineWorkflow('patient', { version: 1, order: Sum }, () => delay({ seconds: 3 * day }));
    let sweeps = 0;
    const check: CrashTestOptions['check'] = ({ story }) => {
      sweeps = story.filter((line) => line.endsWith('sweeper: store.sweep')).length;
    };
    const { points } = await crashTest(patient, [], { only: '1 before', check });
    assert.equal(sweeps, 1);
    assert.ok(points.some(({ where }) => where === 'sweeper: store.sweep'));
  });

  test('says of an order that does not come to rest what it waits for, until when, and which stub would end the wait', async () => {
    const patient = defineWorkflow('patient', { version: 1, order: Sum, toOperator: [Declined], onExhausted: 'wait' }, ({ order }) =>
      payment.charge(order),
    );
    const busy = given(payment.charge).failsForNow(1_000_000);
    const { message } = await crashTest(patient, [payment], { stubs: busy }).then(
      () => assert.fail(),
      (error: Error) => error,
    );
    assert.match(
      message,
      /^The run without a crash failed: after \d+ s of virtual time the order does not come to rest, and is Processing\.$/m,
    );
    assert.match(
      message,
      /^order: Payment could not do order\/charge \(attempt \d+\) for now, and gets the next request at 2026-01-\d\dT[\d:]+Z\.$/m,
    );
    assert.match(message, /^ {2}given\(payment\.charge\)\.answers\(output\)/m);
    assert.ok(message.split('\n').length < 20, message);
  });

  test('ends at once if the workflow refuses the order, with the field and the reason', async () => {
    await assert.rejects(crashTest(paid, [payment], { order: { amount: 'forty' } as never }), {
      name: 'TypeError',
      message:
        /^The workflow paid refuses the order of this crash test:\n- \/order\/amount {2}Invalid input: expected number, received string\n/,
    });
  });

  test('refuses a crash point that the workflow does not have, and names those that it has', async () => {
    await assert.rejects(crashTest(paid, [payment], { only: '5000 before' }), {
      name: 'TypeError',
      message: /^"5000 before" is not a crash of this workflow, whose run without a crash has \d+ crash points, numbered \d+ to \d+\.$/,
    });
    await assert.rejects(crashTest(paid, [payment], { only: ['1 before', '5000 before'] }), {
      name: 'TypeError',
      message: /^"5000 before" is not a crash of the run after "1 before", which has \d+ crash points, numbered \d+ to \d+\.$/,
    });
  });

  test('finds an order that ends otherwise than without a crash, unless the test allows that end', async () => {
    const { message, failures } = await failureOf(hasty, [payment]);
    assert.match(message, /^\d+ of \d+ crashes of hasty@1 broke something\. Without a crash the order ended as completed\./);
    assert.match(message, /1\. the order ended as (compensated|rejected), and without a crash it ended as completed/);
    assert.match(message, /host-1 crashes (before|after)/);
    const [only = ''] = failures[0]?.only ?? [];
    assert.match(message, new RegExp(`Replay: crashTest\\(…, { …, only: '${only}' }\\)`));
    assert.equal((await failureOf(hasty, [payment], { only })).failures.length, 1);
    await crashTest(hasty, [payment], { mayEndAs: ['compensated', 'rejected'] });
  });
});

describe('a crash test with the functions of the user', () => {
  test('passes if the service keeps its idempotency keys', async () => {
    till.keepsKeys = true;
    await crashTest(paid, [payment], {
      real: [payment],
      beforeEach: () => till.clear(),
      check: () => assert.equal(till.charges.length, 1, 'charged twice'),
    });
  });

  test('finds a service that forgets its keys: its answers differ, and the test counts two charges', async () => {
    till.keepsKeys = false;
    const { message } = await failureOf(
      paid,
      [payment],
      real(() => assert.equal(till.charges.length, 1, 'charged twice')),
    );
    assert.match(
      message,
      /payment\.charge got the same idempotency key twice, and answered {"chargeId":"c-1"} and then {"chargeId":"c-2"}/,
    );
    assert.match(message, /and charged twice/);
    assert.match(message, /after the effect, before the answer of agent payment: payment\.charge \(order\/charge\)/);
  });

  test('reports a problem that occurs without any crash', async () => {
    await assert.rejects(
      crashTest(
        paid,
        [payment],
        real(() => assert.fail('never right')),
      ),
      { name: 'CrashlessError', message: /^The run without a crash failed: never right\./ },
    );
  });
});

describe('a crash test with events from outside', () => {
  const signal = waitFor('paid', z.object({}), { withinSeconds: 3600 });
  const question = askOperator('right', { question: 'Is it right?', answer: z.object({ yes: z.boolean() }) });
  const waits = defineWorkflow('waits', version, () => sequence(signal, question));
  const calls = defineWorkflow('calls', { ...version, toOperator: [] }, ({ order }) => sequence(call(sent, { amount: order.amount })));

  test('repeats signals and answers until the order receives them', async () => {
    const come = [given(signal).comes({}, { afterSeconds: 60 }), given(question).answers({ yes: true })];
    const { outcomes, runs, points } = await crashTest(waits, [], { stubs: come });
    assert.deepEqual(outcomes, { completed: runs });
    assert.ok(points.some(({ where }) => where.startsWith('instruct: store.update')));
  });

  test('blocks an order whose signal does not come within its limit', async () => {
    const { outcomes, runs } = await crashTest(waits, []);
    assert.deepEqual(outcomes, { blocked: runs });
  });

  test('ends while an order waits, if its signal has no limit and does not come', async () => {
    const open = defineWorkflow('open', version, () => waitFor('paid', z.object({})));
    const { outcomes, runs } = await crashTest(open, []);
    assert.deepEqual(outcomes, { waits: runs });
  });

  test('plays a called workflow, or takes its result from a stub', async () => {
    const played = await crashTest(calls, [post]);
    assert.ok(played.points.some(({ where }) => where.startsWith('children: store.create')));
    const answered = await crashTest(calls, [post], { stubs: given(sent).answers(undefined) });
    assert.deepEqual(answered.outcomes, { completed: answered.runs });
    assert.ok(answered.points.every(({ where }) => !where.includes('post.send')));
  });

  test('plays the cancellation of a client, which succeeds or comes too late', async () => {
    const silent = given(payment.charge).isSilent().once();
    const { outcomes } = await crashTest(paid, [payment], { stubs: silent, cancelAfterSeconds: 5, mayEndAs: ['completed'] });
    assert.ok((outcomes.canceled ?? 0) > 0);
  });
});
