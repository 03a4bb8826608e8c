import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { behaviors } from '#core/activities/index';
import type { Step } from '#core/activities/step';
import { advance } from '#core/advance';
import type { StepReply } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import type { ActivityState } from '#core/data/state';
import { registerActivity } from '#core/definition/custom';
import { type Activity, limits, type WorkflowDefinition } from '#core/definition/definition';
import { wakeAtOf } from '#core/definition/program';
import { type Behavior, close, run } from '#core/engine/behavior';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

const started = (definition: WorkflowDefinition): Run => {
  const run = startRun(definition);
  run.happen({ type: 'started', stepMs });
  return run;
};

/** An activity and its fact, in a word or two. */
const said = (facts: readonly CoreFact[]): readonly string[] =>
  facts.map((fact) => `${fact.type}${fact.type === 'ActivityClosed' ? ` ${fact.result}` : ''} ${fact.path}`);

test('F-71: a raised fault closes its activity first, and only then reaches the parent', () => {
  const run = started(
    outline(`
    workflow
      sequence
        parallel both
          sequence inner
            charge by payment
            on Other
              never by customer
          ship by shipping
          on Refused
            apologise by customer
  `),
  );
  assert.deepEqual(said(run.reply('order/both/inner/charge', fault('Refused')).facts), [
    'FaultRaised order/both/inner/charge',
    'ActivityClosed Faulted order/both/inner/charge',
    'ActivityFaulting order/both/inner',
    'ActivityClosed Faulted order/both/inner',
    'ActivityFaulting order/both',
    'CancelRequested order/both/ship',
  ]);
  assert.deepEqual(said(run.reply('order/both/ship', fault('No')).facts), [
    'ActivityClosed Canceled order/both/ship',
    'FaultHandled order/both',
    'StepRequested order/both/apologise',
  ]);
  assert.deepEqual(said(run.reply('order/both/apologise', ok()).facts), [
    'ActivityClosed Succeeded order/both/apologise',
    'ActivityClosed Succeeded order/both',
    'ActivityClosed Succeeded order',
  ]);
});

/** An app's own activity that keeps no state, and might run its part again. */
const plain: Behavior<{ activity: string; name: string } & { do: Activity }, undefined> = {
  children: ({ do: body }) => [body],
  templates: () => [],
  reruns: true,
  execute: ({ do: body }) => run([body.name], undefined),
  childClosed: (_, __, closing) => close(closing),
};
registerActivity('test:plain', plain as unknown as Behavior);

test('F-71, F-79: activities that a handler began are canceled if the handler has a fault in the same event', () => {
  const raise: Activity = { activity: 'raise', name: 'raise', fault: 'Refused', message: 'no' };
  for (const part of [step('y'), { activity: 'test:plain', name: 'own', do: step('y') } as unknown as Activity]) {
    const inner: Activity = { ...sequence('inner', step('x')), faultHandlers: [{ fault: 'Late', do: parallel('both', part, raise) }] };
    const run = started(workflow({ ...sequence('', inner), faultHandlers: [{ fault: 'Refused', do: step('last') }] } as Activity));
    const facts = said(run.reply('order/inner/x', fault('Late')).facts);
    const { path } = run.latestRequest(`order/inner/both/${part.name === 'y' ? '' : `${part.name}/`}y`);
    assert.deepEqual(facts.slice(-3), [
      'ActivityClosed Faulted order/inner/both/raise',
      'ActivityFaulting order/inner/both',
      `CancelRequested ${path}`,
    ]);
    assert.equal(said(run.reply(path, fault('No')).facts).at(-1), 'StepRequested order/last');
  }
});

test('F-71: the history names each scope that a fault reaches, its cleanup, and the handler that begins, in that order', () => {
  const run = started(
    outline(`
    workflow
      sequence
        ensure locked
          sequence work
            charge by payment
          unlock by inventory
          on Refused
            tell by customer
  `),
  );
  assert.deepEqual(said(run.reply('order/locked/work/charge', fault('Refused')).facts), [
    'FaultRaised order/locked/work/charge',
    'ActivityClosed Faulted order/locked/work/charge',
    'ActivityFaulting order/locked/work',
    'ActivityClosed Faulted order/locked/work',
    'ActivityFaulting order/locked',
    'CleanUpStarted order/locked',
    'StepRequested order/locked/unlock',
  ]);
  const { facts } = run.reply('order/locked/unlock', ok());
  assert.deepEqual(said(facts), [
    'ActivityClosed Succeeded order/locked/unlock',
    'FaultHandled order/locked',
    'StepRequested order/locked/tell',
  ]);
  assert.partialDeepStrictEqual(facts[1], { handler: 'tell', fault: { type: 'Refused', source: 'order/locked/work/charge' } });
});

test('F-98: a canceled loop has no timer and begins no further turn, even while its turns are still closing', () => {
  const list = Array.from({ length: limits.portionMax + 50 }, (_, index) => index);
  const loop: Activity = { activity: 'forEach', name: 'loop', list, maxConcurrency: list.length, do: step('work') };
  const run = started(
    workflow({ ...parallel('order', step('charge'), loop), faultHandlers: [{ fault: 'Refused', do: step('apologise') }] }),
  );
  const timer = () => wakeAtOf(run.program, 'order/loop', run.state.activities['order/loop'] as ActivityState);
  assert.equal(timer(), run.now, 'the loop waits to begin the rest of its turns');

  run.reply('order/charge', fault('Refused'));
  assert.equal(run.state.activities['order/loop']?.status, 'Canceling');
  assert.equal(timer(), undefined);
  const before = run.state;
  run.happen({ type: 'woken' });
  assert.equal(run.state, before);
});

test('F-98, F-102: a retry that is canceled while it undoes a run begins no further run', () => {
  const undo = step('undo', { operation: 'release' }) as Step;
  const body = sequence('body', step('reserve', { undo }), step('pack'));
  const again: Activity = {
    activity: 'retry',
    name: 'retry',
    retries: 3,
    intervalSeconds: 0,
    evenPermanent: true,
    undoFirst: true,
    do: body,
  };
  const both = parallel('order', step('charge'), again);
  const run = started(workflow({ ...both, faultHandlers: [{ fault: 'Refused', do: step('apologise') }] }));
  run.reply('order/retry/body/reserve', ok());
  run.reply('order/retry/body/pack', fault('Broken'));
  run.reply('order/charge', fault('Refused'));
  assert.deepEqual(Object.keys(run.state.activities), ['order', 'order/retry', 'order/retry/body/reserve/undo']);
  run.reply('order/retry/body/reserve/undo', ok());
  assert.deepEqual(Object.keys(run.state.activities), ['order', 'order/apologise']);
});

/** Records every call of `handleFault`, as an activity would that has a resource to release. */
function noteCleanUps(context: TestContext, ...types: readonly (keyof typeof behaviors)[]): readonly string[] {
  const notes: string[] = [];
  for (const type of types) {
    const behavior = behaviors[type] as unknown as { handleFault?: Behavior['handleFault'] };
    behavior.handleFault = (node, _, { type: kind }) => {
      notes.push(`${node.name} ${kind}`);
    };
    context.after(() => {
      delete behavior.handleFault;
    });
  }
  return notes;
}

/** Facts of one transition: the laws of a run call the core several times for each event. */
function calledBy(
  notes: readonly string[],
  { program, orderId, state, now: at, epoch, latestRequest: latest }: Run,
  path: string,
  reply: StepReply,
) {
  const before = notes.length;
  advance(program, { orderId, order: {} }, state, { type: 'replied', requestId: latest(path).requestId, sentAt: at, reply, at, epoch });
  return notes.slice(before);
}

test("F-78, F-79, F-97: an activity cleans up once for each fault, its own or a child's, also if a retry runs it again", (context) => {
  const notes = noteCleanUps(context, 'step', 'sequence', 'retry');
  const run = started(
    outline(`
    workflow
      sequence
        retry 1 every 5s
          sequence body
            charge by payment
        on Busy
          apologise by customer
  `),
  );
  const path = 'order/retry/body/charge';
  const busy = fault('Busy', { permanent: false });
  assert.deepEqual(calledBy(notes, run, path, busy), ['charge Busy', 'body Busy']);
  run.reply(path, busy);

  run.now += 5000;
  run.happen({ type: 'woken' });
  assert.deepEqual(calledBy(notes, run, path, busy), ['charge Busy', 'body Busy', 'retry Busy', 'order Busy']);
});

for (const count of [0, 1, 3]) {
  test(`F-93, F-94, F-96: a retry of ${count} runs its activity ${count + 1} times before its handler, and leaves no timer`, () => {
    const retry: Activity = {
      activity: 'retry',
      name: 'retry',
      retries: count,
      intervalSeconds: 10,
      do: sequence('body', step('charge')),
      faultHandlers: [{ fault: 'Busy', do: step('note') }],
    };
    const failing = started(workflow(sequence('order', retry)));
    let runs = 0;
    for (; !failing.state.activities['order/retry/note']; runs++) {
      failing.reply('order/retry/body/charge', fault('Busy', { permanent: false }));
      failing.now += 10_000;
      failing.happen({ type: 'woken' });
    }
    assert.equal(runs, count + 1);

    const running = started(workflow(sequence('order', retry, delay('pause', 3600))));
    running.reply('order/retry/body/charge', ok());
    assert.deepEqual(Object.keys(running.state.activities), ['order', 'order/pause']);
    assert.equal(running.state.memos, undefined);
  });
}

for (const onExhausted of ['wait', 'fault', 'undo'] as const)
  test(`F-53, F-93: with onExhausted "${onExhausted}" an exhausted retry does not block the order: its step is requested again at its deadline, until maxFailures`, () => {
    const run = started(
      workflow({ activity: 'retry', name: 'order', retries: 0, intervalSeconds: 0, do: step('charge') }, { onExhausted }),
    );
    run.reply('order/charge', fault('Busy', { permanent: false }));
    assert.deepEqual([run.state.phase, run.state.activities['order/charge']?.status], ['running', 'Executing']);
    run.now += stepMs;
    run.happen({ type: 'expired' });
    run.reply('order/charge', ok());
    assert.equal(run.state.outcome, 'completed');
  });

test('F-93: a permanent fault is not retried unless the retry names it; an excepted fault is never retried', () => {
  const runs = (more: object, reply: ReturnType<typeof fault>): boolean => {
    const retry: Activity = { activity: 'retry', name: 'retry', retries: 1, intervalSeconds: 10, do: step('charge'), ...more };
    const run = started(workflow(sequence('order', retry)));
    run.reply('order/retry/charge', reply);
    return run.turns.some(({ facts }) => facts.some(({ type }) => type === 'RunFailed'));
  };
  assert.equal(runs({}, fault('Refused')), false);
  assert.equal(runs({ evenPermanent: true }, fault('Refused')), true);
  assert.equal(runs({}, fault('Busy', { permanent: false })), true);
  assert.equal(runs({ except: ['Busy'] }, fault('Busy/Overloaded', { permanent: false })), false);
});

test('F-93, F-96: with "only", a retry runs again after the named faults, permanent or not; handlers get all others', () => {
  const taken = (type: string, permanent: boolean): string => {
    const again: Activity = { activity: 'retry', name: 'retry', retries: 1, intervalSeconds: 10, only: ['Refused'], do: step('charge') };
    const run = started(workflow(sequence('order', { ...again, faultHandlers: [{ fault: '*', do: step('note') }] })));
    run.reply('order/retry/charge', fault(type, { permanent }));
    return run.state.activities['order/retry/note'] ? 'handled' : 'run again';
  };
  assert.equal(taken('Refused/CardDeclined', true), 'run again');
  assert.equal(taken('Refused', false), 'run again');
  assert.equal(taken('Other', true), 'handled');
  assert.equal(taken('Busy', false), 'handled');
  assert.equal(taken('Engine/ServiceUnavailable', false), 'handled');
});

test('F-43, F-72: two faults at the same instant are handled in turn, and no handler begins while a person decides', () => {
  const run = started(
    workflow(
      parallel(
        'order',
        { activity: 'raise', name: 'first', fault: 'Unknown', message: 'Nobody takes this.' },
        {
          activity: 'scope',
          name: 'second',
          do: { activity: 'raise', name: 'raise', fault: 'Refused', message: 'This one has a handler.' },
          faultHandlers: [{ fault: 'Refused', do: step('apologise') }],
        },
      ),
    ),
  );
  assert.equal(run.state.blocked?.path, 'order/first');
  assert.equal(run.requests.length, 0);

  // The first has no handler, so the second keeps waiting.
  run.happen({ type: 'resubmitted' });
  assert.equal(run.state.blocked?.path, 'order/first');
  run.happen({ type: 'canceled', outcome: 'canceled' });
  assert.equal(run.state.outcome, 'canceled');
});

test('F-43: a second fault that has a handler is handled after a person has resolved the first', () => {
  const run = started(
    outline(`
    workflow completeWithin 10s
      sequence
        delay pause 20s
        parallel
          charge by payment
          scope second
            notify by customer
            on Engine
              set late to true
    `),
  );
  run.now += 20_000;
  run.happen({ type: 'woken' });
  assert.equal(run.state.blocked?.path, 'order/parallel/charge');
  assert.equal(run.state.vars, undefined);

  run.happen({ type: 'resubmitted', completeWithinSeconds: 100 });
  assert.deepEqual(run.state.vars, { late: true });
  run.reply('order/parallel/charge', ok());
  assert.equal(run.state.outcome, 'completed');
});

test('F-51, F-58: an order blocked by the failure limit in a handler, an undo or a canceled step continues with that activity', () => {
  const run = started(
    outline(`
    workflow
      sequence
        reserve by inventory
          undo release by inventory
        charge by payment
        on Refused
          sequence refused
            delay pause 60s
            compensate
            tell by customer
  `),
  );
  run.reply('order/reserve', ok());
  run.reply('order/charge', fault('Refused'));
  const exhaustAndGoOn = () => {
    run.happen({ type: 'exhausted' });
    assert.equal(run.state.phase, 'blocked');
    run.happen({ type: 'resubmitted' });
  };
  exhaustAndGoOn();
  run.now += 60_000;
  run.happen({ type: 'woken' });
  exhaustAndGoOn();
  assert.deepEqual(
    run.requests.filter(({ path }) => path === 'order/reserve/undo').map(({ attempt }) => attempt),
    [1, 2],
  );
  run.happen({ type: 'exhausted' });
  run.reply('order/reserve/undo', ok());
  run.happen({ type: 'resubmitted' });
  run.reply('order/refused/tell', ok());
  assert.equal(run.state.outcome, 'compensated');
});
