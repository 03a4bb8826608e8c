import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { behaviours } from '../../lib/core/activities/index.ts';
import { advance } from '../../lib/core/advance.ts';
import type { Behaviour } from '../../lib/core/behaviour.ts';
import type { Activity, WorkflowDefinition } from '../../lib/core/definition.ts';
import type { StepReply } from '../../lib/core/event.ts';
import type { CoreFact } from '../../lib/core/journal.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

const started = (definition: WorkflowDefinition): Run => {
  const run = startRun(definition);
  run.happen({ type: 'started', stepMs });
  return run;
};

/** What a fact says of which activity, in a word or two. */
const said = (facts: readonly CoreFact[]): readonly string[] =>
  facts.map((fact) => `${fact.type}${fact.type === 'ActivityClosed' ? ` ${fact.result}` : ''} ${fact.path}`);

test('F-71: a fault is raised, its activity is closed with it, and only then its parent has it', () => {
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
    'ActivityClosed Faulted order/both/inner',
    'CancelAsked order/both/ship',
  ]);
  assert.deepEqual(said(run.reply('order/both/ship', fault('No')).facts), [
    'ActivityClosed Canceled order/both/ship',
    'FaultHandled order/both',
    'StepAsked order/both/apologise',
  ]);
  assert.deepEqual(said(run.reply('order/both/apologise', ok()).facts), [
    'ActivityClosed Succeeded order/both/apologise',
    'ActivityClosed Succeeded order/both',
    'ActivityClosed Succeeded order',
  ]);
});

/** Notes every call of `handleFault`, as an activity would that has something to free. */
function noteCleanUps(context: TestContext, ...types: readonly (keyof typeof behaviours)[]): readonly string[] {
  const notes: string[] = [];
  for (const type of types) {
    const behaviour = behaviours[type] as unknown as { handleFault?: Behaviour['handleFault'] };
    behaviour.handleFault = (node, _, { type: kind }) => {
      notes.push(`${node.name} ${kind}`);
    };
    context.after(() => {
      delete behaviour.handleFault;
    });
  }
  return notes;
}

/** What one transition notes: the laws of a run call the core several times for each event. */
function calledBy(notes: readonly string[], { program, orderId, state, now: at, epoch, asked }: Run, path: string, reply: StepReply) {
  const before = notes.length;
  advance(program, { orderId, order: {} }, state, { type: 'replied', requestId: asked(path).requestId, sentAt: at, reply, at, epoch });
  return notes.slice(before);
}

test('F-78, F-79, F-97: whoever faults cleans up once for each fault, its own or that of a child, also where a retry runs it again', (context) => {
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
  test(`F-93, F-94, F-96: a retry of ${count} runs its activity ${count + 1} times, and its handler only then; no timer is left`, () => {
    const retry: Activity = {
      activity: 'retry',
      name: 'retry',
      count,
      interval: 10,
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
    assert.equal(running.state.known, undefined);
  });
}

test('F-93: a fault that asking again cannot help is not retried, unless that is wanted; nor is one that is excepted', () => {
  const runs = (more: object, reply: ReturnType<typeof fault>): boolean => {
    const retry: Activity = { activity: 'retry', name: 'retry', count: 1, interval: 10, do: step('charge'), ...more };
    const run = started(workflow(sequence('order', retry)));
    run.reply('order/retry/charge', reply);
    return run.turns.some(({ facts }) => facts.some(({ type }) => type === 'RunFailed'));
  };
  assert.equal(runs({}, fault('Refused')), false);
  assert.equal(runs({ evenPermanent: true }, fault('Refused')), true);
  assert.equal(runs({}, fault('Busy', { permanent: false })), true);
  assert.equal(runs({ except: ['Busy'] }, fault('Busy/Overloaded', { permanent: false })), false);
});

test('F-43, F-72: of two faults in one instant one is dealt with after the other, and no handler begins while a person decides', () => {
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
  assert.equal(run.state.held?.path, 'order/first');
  assert.equal(run.asks.length, 0);

  // In vain for the first, so the second goes on waiting.
  run.happen({ type: 'resubmitted' });
  assert.equal(run.state.held?.path, 'order/first');
  run.happen({ type: 'cancelled', outcome: 'cancelled' });
  assert.equal(run.state.outcome, 'cancelled');
});

test('F-43: a second fault that has a handler is handled once a person has dealt with the first', () => {
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
  assert.equal(run.state.held?.path, 'order/parallel/charge');
  assert.equal(run.state.vars, undefined);

  run.happen({ type: 'resubmitted', completeWithinSeconds: 100 });
  assert.deepEqual(run.state.vars, { late: true });
  run.reply('order/parallel/charge', ok());
  assert.equal(run.state.outcome, 'completed');
});

test('F-51, F-58: an order that exceeds its threshold in a handler, an undo or a cancelled step goes on with just that', () => {
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
    assert.equal(run.state.phase, 'held');
    run.happen({ type: 'resubmitted' });
  };
  exhaustAndGoOn();
  run.now += 60_000;
  run.happen({ type: 'woken' });
  exhaustAndGoOn();
  assert.deepEqual(
    run.asks.filter(({ path }) => path === 'order/reserve/undo').map(({ attempt }) => attempt),
    [1, 2],
  );
  run.happen({ type: 'exhausted' });
  run.reply('order/reserve/undo', ok());
  run.happen({ type: 'resubmitted' });
  run.reply('order/refused/tell', ok());
  assert.equal(run.state.outcome, 'compensated');
});
