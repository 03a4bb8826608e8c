import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '#core/data/json';
import { registerActivity } from '#core/definition/custom';
import { type Activity, limits, type Template } from '#core/definition/definition';
import { type Behavior, close, run } from '#core/engine/behavior';
import { mayTakeSignal, signalsAhead, takesSignalNow } from '#core/views/reachable';
import { after } from '../support/journal.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { delay, listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

const waitFor = (name: string, signal: string, withinSeconds?: Template): Activity => ({
  activity: 'waitFor',
  name,
  signal,
  ...(withinSeconds === undefined ? {} : { withinSeconds }),
});
const tell = (from: string): Activity => step('tell', { input: { $cel: `steps.${from}` } });

/** An app's own activity: runs one activity, then another one if that was canceled. */
const tidy: Behavior<{ activity: string; name: string } & { do: Activity; last: Activity }, Record<string, never>> = {
  children: ({ do: body, last }) => [body, last],
  templates: () => [],
  execute: ({ do: body }) => run([body.name], {}),
  childClosed: (_, __, closing) => close(closing),
  cancel: ({ last }) => ({ run: [last.name] }),
};
registerActivity('test:tidy', tidy as unknown as Behavior);

const started = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};
const signal = (run: Run, name: string, payload: Json = null) => run.happen({ type: 'signaled', name, payload });

describe('an order waits for a signal from outside', () => {
  test('a signal ends the wait, and its payload can be read', () => {
    const run = started(sequence('', waitFor('paid', 'payment'), tell('paid')));
    assert.deepEqual(
      after(run, () => signal(run, 'payment', { amount: 5 })),
      [
        'SignalReceived order/paid payment',
        'ActivityClosed order/paid Succeeded output {"amount":5}',
        'StepRequested order/tell 1#1.1 by +30s',
      ],
    );
    assert.deepEqual(run.latestRequest('order/tell').input, { amount: 5 });
  });

  test('a signal that arrives early is kept for the first wait with its name', () => {
    const run = started(sequence('', step('charge'), waitFor('one', 'payment'), waitFor('two', 'payment'), tell('two')));
    for (const payload of ['first', 'second', 'third'])
      assert.deepEqual(
        after(run, () => signal(run, 'payment', payload)),
        ['SignalReceived payment'],
      );
    signal(run, 'other');
    run.reply('order/charge', ok());
    assert.deepEqual(run.latestRequest('order/tell').input, 'second');
    assert.deepEqual(run.state.signals, [
      { name: 'payment', payload: 'third' },
      { name: 'other', payload: null },
    ]);
    run.reply('order/tell', ok());
    assert.equal(run.state.signals, undefined);
  });

  test('one signal ends one wait: the oldest with its name', () => {
    const run = started(parallel('', waitFor('other', 'other'), waitFor('one', 'payment'), waitFor('two', 'payment')));
    signal(run, 'payment');
    assert.deepEqual(Object.keys(run.state.activities), ['order', 'order/other', 'order/two']);
    signal(run, 'payment');
    signal(run, 'other');
    assert.equal(run.state.outcome, 'completed');
    assert.equal(run.state.signals, undefined);
  });

  test(`at most ${limits.signalsMax} signals are kept; later ones are ignored`, () => {
    const run = started(sequence('', delay('pause', 60)));
    for (const index of listOf(limits.signalsMax, (each) => each)) signal(run, 'payment', index);
    assert.deepEqual(
      after(run, () => signal(run, 'payment', 'too many')),
      [],
    );
    assert.equal(run.state.signals?.length, limits.signalsMax);
  });

  test('a signal that arrives while the order is blocked ends the wait when the order continues', () => {
    const run = started(parallel('', step('charge'), sequence('wait', waitFor('paid', 'payment'), tell('paid'))));
    run.reply('order/charge', fault('Refused'));
    signal(run, 'other', 0);
    signal(run, 'payment', 7);
    assert.deepEqual(
      run.requests.map(({ path }) => path),
      ['order/charge'],
    );
    run.happen({ type: 'resubmitted' });
    assert.deepEqual(run.latestRequest('order/wait/tell').input, 7);
    assert.deepEqual(run.state.signals, [{ name: 'other', payload: 0 }]);
  });

  test('F-79: a cleanup canceled in a blocked order still receives the signal that arrived meanwhile', () => {
    const own = { activity: 'test:tidy', name: 'own', do: step('x'), last: waitFor('last', 'last') } as unknown as Activity;
    const inner = { ...parallel('inner', own, step('y')), faultHandlers: [{ fault: 'Late', do: step('late') }] };
    const run = started(parallel('', inner, step('z')));
    run.reply('order/inner/y', fault('Late'));
    run.reply('order/inner/own/x', fault('No'));
    run.reply('order/z', fault('Refused'));
    signal(run, 'last');
    assert.deepEqual([run.state.phase, run.state.signals], ['blocked', [{ name: 'last', payload: null }]]);
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.deepEqual([run.state.outcome, run.state.signals], ['canceled', undefined]);
  });

  test('an order that is being canceled, or has ended, ignores signals', () => {
    const run = started(sequence('', step('charge'), waitFor('paid', 'payment')));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    signal(run, 'payment');
    run.reply('order/charge', ok());
    signal(run, 'payment');
    assert.deepEqual([run.state.outcome, run.state.signals], ['canceled', undefined]);
  });
});

describe('a wait for a signal may have a time limit', () => {
  test('the scheduler wakes the order at the time limit, and a wait that got no signal is a fault', () => {
    const root = { ...sequence('', waitFor('paid', 'payment', 60)), faultHandlers: [{ fault: 'Engine/NoSignal', do: step('remind') }] };
    const run = startRun(workflow(root));
    const { commands } = run.happen({ type: 'started', stepMs });
    assert.deepEqual(commands, [{ type: 'wake', at: run.now + 60_000 }]);
    run.now += 59_999;
    run.happen({ type: 'woken' });
    assert.deepEqual(run.requests, []);
    run.now += 1;
    run.happen({ type: 'woken' });
    assert.deepEqual(run.latestRequest('order/remind').path, 'order/remind');
  });

  test('a wait that got no signal blocks the order if no handler handles its fault, and a person can let the order wait again', () => {
    const run = started(sequence('', waitFor('paid', 'payment', { $cel: '30 + 30' })));
    run.now += 60_000;
    run.happen({ type: 'woken' });
    assert.partialDeepStrictEqual(run.state.blocked, {
      path: 'order/paid',
      fault: { type: 'Engine/NoSignal', permanent: true, message: 'No signal "payment" came in time.' },
    });
    assert.deepEqual(run.happen({ type: 'resubmitted' }).commands, [{ type: 'wake', at: run.now + 60_000 }]);
    signal(run, 'payment');
    assert.equal(run.state.outcome, 'completed');
  });

  test('a wait without a time limit lasts until its signal', () => {
    const run = startRun(workflow(sequence('', waitFor('paid', 'payment'))));
    assert.deepEqual(run.happen({ type: 'started', stepMs }).commands, []);
    run.now += 1e12;
    run.happen({ type: 'woken' });
    assert.deepEqual(run.state.activities['order/paid'], { status: 'Executing', local: {} });
  });

  test('a time limit that is invalid, or cannot be evaluated, is a fault at once', () => {
    const blockedFor = (seconds: string) =>
      started(sequence('', waitFor('paid', 'payment', { $cel: seconds }))).state.blocked?.fault.message;
    assert.equal(blockedFor('-1'), 'Expected 0 to 31622400 seconds (a year), got -1.');
    assert.equal(blockedFor('order.nothing'), 'order.nothing: No such key: nothing');
  });
});

describe('an order waits for the answer of a person', () => {
  const ask = (fields: object): Activity => ({ activity: 'askOperator', name: 'ask', ...fields }) as Activity;

  test('the order waits for the answer, which expressions can then read', () => {
    const question = { question: { $cel: '"Ship " + orderId + "?"' }, details: { late: { $cel: '1 + 1' } } };
    const run = started(sequence('', ask(question), tell('ask')));
    assert.deepEqual(run.state.blocked, {
      path: 'order/ask',
      at: run.now,
      fault: {
        type: 'OperatorAsked',
        class: 'expected',
        permanent: true,
        message: 'Ship o1?',
        data: { late: 2 },
        source: 'order/ask',
      },
    });
    run.happen({ type: 'resubmitted', answer: { ship: true } });
    assert.deepEqual(run.latestRequest('order/tell').input, { ship: true });
  });

  test('a question that is not a text is asked in its JSON form', () => {
    const run = started(sequence('', ask({ question: { $cel: '[1, 2]' } }), tell('ask')));
    assert.deepEqual(run.state.blocked?.fault.message, '[1,2]');
    assert.equal('data' in (run.state.blocked?.fault ?? {}), false);
    run.happen({ type: 'resubmitted', answer: null });
    assert.equal(run.latestRequest('order/tell').input, null);
  });

  test('a question or details that cannot be evaluated are a fault', () => {
    for (const fields of [{ question: { $cel: 'order.nothing' } }, { question: 'Well?', details: { $cel: 'order.nothing' } }]) {
      const { blocked } = started(sequence('', ask(fields))).state;
      assert.deepEqual([blocked?.path, blocked?.fault.type], ['order/ask', 'Engine/ExpressionFailed']);
    }
  });

  test('two questions are asked one after the other', () => {
    const run = started(parallel('', ask({ question: 'One?' }), { ...ask({ question: 'Two?' }), name: 'other' }));
    assert.equal(run.state.blocked?.fault.message, 'One?');
    run.happen({ type: 'resubmitted', answer: 1 });
    assert.equal(run.state.blocked?.fault.message, 'Two?');
    run.happen({ type: 'resubmitted', answer: 2 });
    assert.equal(run.state.outcome, 'completed');
  });
});

describe('the signals that an order may still wait for', () => {
  const names = (run: Run): readonly string[] => signalsAhead(run.program, run.state).toSorted();
  const now = (run: Run, name: string): boolean => takesSignalNow(run.program, run.state, name);
  const raise: Activity = { activity: 'raise', name: 'raise', fault: 'Odd', message: 'no' };

  test('each name is listed once, from waits that are open and waits that may still begin', () => {
    const run = started(sequence('', waitFor('one', 'a'), step('x'), parallel('both', waitFor('two', 'b'), waitFor('three', 'a'))));
    assert.deepEqual([names(run), now(run, 'a'), now(run, 'b'), now(run, 'x')], [['a', 'b'], true, false, false]);
    signal(run, 'a');
    assert.deepEqual([names(run), now(run, 'a')], [['a', 'b'], false]);
    run.reply('order/x', ok());
    assert.deepEqual([now(run, 'a'), now(run, 'b')], [true, true]);
    run.happen({ type: 'terminated' });
    assert.deepEqual([names(run), now(run, 'a')], [[], false]);
  });

  test('no name is listed after a cancellation, but the name of an open wait is listed while the order is blocked', () => {
    const root = () => parallel('', step('x'), waitFor('one', 'a'));
    const ended = started(root());
    assert.equal(mayTakeSignal(ended.program, ended.state, 'a'), true);
    ended.happen({ type: 'canceled', outcome: 'canceled' });
    assert.equal(mayTakeSignal(ended.program, ended.state, 'a'), false);
    const blocked = started(root());
    blocked.reply('order/x', fault('Refused'));
    assert.deepEqual([now(blocked, 'a'), names(blocked)], [false, ['a']]);
  });

  test('a wait whose time is over blocks the order, and its name is still listed', () => {
    const run = started(parallel('', waitFor('one', 'a', 60), waitFor('two', 'b')));
    run.now += 60_000;
    run.happen({ type: 'woken' });
    assert.deepEqual([names(run), run.state.blocked?.path], [['a', 'b'], 'order/one']);
  });

  test('a wait whose time limit could not be evaluated accepts no signal yet, and its name is listed', () => {
    const run = started(sequence('', waitFor('one', 'a', { $cel: 'order.nothing' })));
    assert.deepEqual([names(run), now(run, 'a')], [['a'], false]);
  });

  test('while a composite closes with a fault, only its handler for that fault is listed', () => {
    const inner = {
      ...parallel('inner', step('x'), step('y'), waitFor('gone', 'gone')),
      faultHandlers: [
        { fault: 'Late', do: waitFor('late', 'late') },
        { fault: 'Refused', do: waitFor('refused', 'refused') },
      ],
    };
    const run = started(sequence('', inner, raise));
    assert.deepEqual(names(run), ['gone', 'late', 'refused']);
    run.reply('order/inner/x', fault('Refused/Card'));
    assert.deepEqual([run.state.activities['order/inner']?.status, names(run)], ['Faulting', ['refused']]);
    run.reply('order/inner/y', fault('No'));
    assert.deepEqual([now(run, 'refused'), names(run)], [true, ['refused']]);
  });

  test('a cleanup is listed until it is done', () => {
    const own = { activity: 'test:tidy', name: 'own', do: step('x'), last: waitFor('last', 'last') } as unknown as Activity;
    const run = started(sequence('', own));
    assert.deepEqual(names(run), ['last']);
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.deepEqual(names(run), ['last']);
    run.reply('order/own/x', fault('No'));
    assert.equal(now(run, 'last'), true);
  });
});
