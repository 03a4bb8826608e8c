import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import { registerActivity } from '#core/definition/custom';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { type Behavior, close, run } from '#core/engine/behavior';
import { after } from '../support/journal.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

/** An app's own activity: runs its part, then releases a resource after a fault or a cancellation. */
const ensure: Behavior<{ activity: string; name: string } & { do: Activity; last: Activity }, Record<string, never>> = {
  children: ({ do: body, last }) => [body, last],
  templates: () => [],
  execute: ({ do: body }) => run([body.name], {}),
  childClosed: (_, __, closing) => close(closing),
  handleFault: ({ last }) => ({ run: [last.name] }),
  cancel: ({ last }) => ({ run: [last.name] }),
};
registerActivity('test:ensure', ensure as unknown as Behavior);
const ensured = (body: Activity, last: Activity, more: object = {}): Activity =>
  ({ activity: 'test:ensure', name: 'ensure', do: body, last, ...more }) as unknown as Activity;

const undoBy = (operation: string) => ({ undo: step('undo', { operation }) as Step });
const started = (definition: WorkflowDefinition): Run => {
  const run = startRun(definition);
  run.happen({ type: 'started', stepMs });
  return run;
};
const requested = (run: Run): readonly string[] => run.requests.map(({ path }) => path);

describe('an activity of an app cleans up after a fault or a cancellation, before it closes', () => {
  test('after a fault inside the activity, its cleanup runs after its children are closed, and its handlers run after the cleanup', () => {
    const root = sequence('', ensured(parallel('both', step('a'), step('b')), step('unlock')));
    const run = started(workflow({ ...root, faultHandlers: [{ fault: 'Refused', do: step('tell') }] }));
    run.reply('order/ensure/both/a', fault('Refused'));
    assert.deepEqual(requested(run), ['order/ensure/both/a', 'order/ensure/both/b']);
    run.reply('order/ensure/both/b', fault('No'));
    assert.deepEqual(requested(run).slice(2), ['order/ensure/unlock']);
    run.reply('order/ensure/unlock', ok());
    assert.deepEqual(requested(run).slice(3), ['order/tell']);
    run.reply('order/tell', ok());
    assert.equal(run.state.outcome, 'completed');
  });

  test('when the activity is canceled, it cleans up as well, and completes its cleanup', () => {
    const run = started(workflow(sequence('', ensured(step('a'), step('unlock')))));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.deepEqual(requested(run), ['order/ensure/a']);
    run.reply('order/ensure/a', fault('No'));
    assert.deepEqual(requested(run).slice(1), ['order/ensure/unlock']);
    assert.deepEqual(
      after(run, () => run.reply('order/ensure/unlock', ok())),
      [
        'ActivityClosed order/ensure/unlock Succeeded 1#1.1 output {}',
        'ActivityClosed order/ensure Canceled',
        'ActivityClosed order Canceled',
      ],
    );
  });

  test('when the order is canceled during the cleanup after a fault, the cleanup still completes', () => {
    const run = started(
      workflow({ ...sequence('', ensured(step('a'), step('unlock'))), faultHandlers: [{ fault: 'Refused', do: step('tell') }] }),
    );
    run.reply('order/ensure/a', fault('Refused'));
    assert.equal(run.state.activities['order/ensure']?.cleaning, true);
    assert.deepEqual(run.happen({ type: 'canceled', outcome: 'canceled' }).commands, []);
    run.reply('order/ensure/unlock', ok());
    assert.deepEqual([requested(run), run.state.outcome], [['order/ensure/a', 'order/ensure/unlock'], 'canceled']);
  });

  test('when a retry runs the activity again, the activity cleans up again', () => {
    const retry = { activity: 'retry', name: 'retry', retries: 1, intervalSeconds: 5, do: ensured(step('a'), step('unlock')) } as Activity;
    const run = started(workflow({ ...sequence('', retry), faultHandlers: [{ fault: 'Busy', do: step('tell') }] }));
    const keys = [1, 2].map((attempt) => {
      run.reply('order/retry/ensure/a', fault('Busy', { permanent: false }));
      const { idempotencyKey } = run.latestRequest('order/retry/ensure/unlock');
      run.reply('order/retry/ensure/unlock', ok());
      assert.equal(run.state.activities['order/retry/ensure']?.cleaning, undefined);
      run.now += 5000;
      run.happen({ type: 'woken' });
      return [attempt, idempotencyKey];
    });
    assert.deepEqual(keys, [
      [1, 'o1/order/retry/ensure/unlock/1'],
      [2, 'o1/order/retry/ensure/unlock/2'],
    ]);
    assert.equal(run.latestRequest('order/tell').attempt, 1);
  });

  test('when neither a fault nor a cancellation occurs, the activity does not clean up', () => {
    const run = started(workflow(sequence('', ensured(step('a'), step('unlock')))));
    run.reply('order/ensure/a', ok());
    assert.deepEqual([run.state.outcome, requested(run)], ['completed', ['order/ensure/a']]);
  });
});

test('two activity types of an app cannot be registered under one name', () => {
  assert.throws(() => registerActivity('test:ensure', ensure as unknown as Behavior), /Two activities are called "test:ensure"/);
});

describe('F-99: a composite with an undo is undone as a whole', () => {
  const trip = (...children: Activity[]): Activity => ({ ...sequence('trip', ...children), ...undoBy('un-trip') });
  const refusing = (...children: Activity[]): WorkflowDefinition =>
    workflow({
      ...sequence('', ...children),
      faultHandlers: [{ fault: 'Refused', do: { activity: 'compensate', name: 'compensate' } as Activity }],
    });

  test('after the composite has completed, only its own undo runs, and no undo of its parts', () => {
    const run = started(refusing(step('before', undoBy('un-before')), trip(step('fly', undoBy('un-fly')), step('book')), step('pay')));
    for (const path of ['before', 'trip/fly', 'trip/book']) run.reply(`order/${path}`, ok());
    assert.deepEqual(
      run.state.undo?.map(({ path }) => path),
      ['order/before', 'order/trip'],
    );
    run.reply('order/pay', fault('Refused'));
    run.reply('order/trip/undo', ok());
    run.reply('order/before/undo', ok());
    assert.deepEqual([requested(run).slice(4), run.state.outcome], [['order/trip/undo', 'order/before/undo'], 'compensated']);
  });

  test('before the composite has completed, its parts are undone one by one', () => {
    const run = started(refusing(trip(step('fly', undoBy('un-fly')), step('book'))));
    run.reply('order/trip/fly', ok());
    run.reply('order/trip/book', fault('Refused'));
    run.reply('order/trip/fly/undo', ok());
    assert.deepEqual([requested(run).slice(2), run.state.outcome], [['order/trip/fly/undo'], 'compensated']);
  });

  test('a step of unknown outcome, inside the composite or outside, is confirmed before the undo', () => {
    const quiet: Activity = {
      ...sequence('quiet', step('fly', undoBy('un-fly'))),
      faultHandlers: [{ fault: 'Odd', do: step('note') }],
    };
    const run = started(refusing(trip(quiet), step('pay')));
    run.reply('order/trip/quiet/fly', fault('Odd', { unknown: true }));
    run.reply('order/trip/quiet/note', ok());
    assert.deepEqual(
      run.state.undo?.map(({ path, input }) => [path, input !== undefined]),
      [
        ['order/trip/quiet/fly', false],
        ['order/trip', true],
      ],
    );
  });

  test('when the composite runs again after an undo, it is a new effect, as are all its parts', () => {
    const body = sequence('body', trip(step('fly')), step('pay'));
    const retry = { activity: 'retry', name: 'retry', retries: 1, intervalSeconds: 0, undoFirst: true, do: body } as Activity;
    const run = started(workflow(sequence('', retry)));
    run.reply('order/retry/body/trip/fly', ok());
    run.reply('order/retry/body/pay', fault('Busy', { permanent: false }));
    run.reply('order/retry/body/trip/undo', ok());
    assert.equal(run.latestRequest('order/retry/body/trip/fly').idempotencyKey, 'o1/order/retry/body/trip/fly/2');
    run.reply('order/retry/body/trip/fly', ok());
    assert.deepEqual(
      run.state.undo?.map(({ path, generation }) => [path, generation]),
      [['order/retry/body/trip', 2]],
    );
  });
});

describe('an operator may mark an activity as compensated', () => {
  const definition = workflow(sequence('', step('a', undoBy('un-a')), step('b', undoBy('un-b')), step('c')));
  const canceled = (): Run => {
    const run = started(definition);
    for (const path of ['order/a', 'order/b']) run.reply(path, ok());
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/c', fault('No'));
    return run;
  };

  test('an undo that is marked as done is not requested again, and the next undo is requested', () => {
    const run = canceled();
    run.reply('order/b/undo', fault('Stuck'));
    assert.deepEqual(
      after(run, () => run.happen({ type: 'markedCompensated', path: 'order/b' })),
      ['MarkedCompensated order/b', 'ActivityClosed order/b/undo Compensated 1#1.1', 'StepRequested order/a/undo 1#1.1 by +30s'],
    );
    run.reply('order/a/undo', ok());
    assert.equal(run.state.outcome, 'canceled');
  });

  test('a step of unknown outcome that is marked counts as not done', () => {
    const run = started(definition);
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.now = run.latestRequest('order/a').completeBy;
    run.happen({ type: 'woken' });
    assert.equal(run.latestRequest('order/a').confirming, true);
    assert.deepEqual(
      after(run, () => run.happen({ type: 'markedCompensated', path: 'order/a' })),
      ['MarkedCompensated order/a', 'ActivityClosed order/a Canceled 1#1.2', 'ActivityClosed order Canceled'],
    );
    assert.equal(run.state.outcome, 'canceled');
  });

  test('an activity that is neither being undone nor of unknown outcome stays as it is', () => {
    const run = started(definition);
    for (const path of ['order/a', 'order/b', 'order']) run.happen({ type: 'markedCompensated', path });
    assert.deepEqual(
      run.turns.slice(1).flatMap(({ facts }) => facts),
      [],
    );
  });
});
