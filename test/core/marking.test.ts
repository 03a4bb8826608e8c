import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import type { Activity } from '#core/definition/definition';
import { failingUndos } from '#core/engine/compensation';
import { explain } from '#core/views/explain';
import { undoPlan } from '#core/views/undo-plan';
import { undoProgress } from '#core/views/undo-progress';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: `un-${name}` }) as Step });
const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};
/** Returns an order whose second step has failed: its handler undoes the first step, and then requests the step `tell`. */
const handled = (): Run => {
  const root: Activity = {
    ...sequence('order', undoable('a'), step('b')),
    faultHandlers: [{ fault: 'No', do: sequence('handler', { activity: 'compensate', name: 'compensate' }, step('tell')) }],
  };
  const run = begun(root);
  run.reply('order/a', ok());
  run.reply('order/b', fault('No'));
  return run;
};
const marked = (run: Run, path: string): void => void run.happen({ type: 'markedCompensated', path });

describe('an undo that an operator marks as done', () => {
  test('the failed undo then counts as done, and the next older undo begins', () => {
    const run = begun(sequence('order', undoable('a'), undoable('b'), step('c')));
    for (const name of ['a', 'b']) run.reply(`order/${name}`, ok());
    run.reply('order/c', fault('No'));
    run.happen({ type: 'canceled', outcome: 'compensated' });
    assert.deepEqual(failingUndos(run.program, run.state), []);
    run.reply('order/b/undo', fault('No', { permanent: false }));
    assert.deepEqual(failingUndos(run.program, run.state), ['order/b']);
    // Five seconds, plus or minus a fifth.
    run.now += 6_000;
    run.happen({ type: 'woken' });
    assert.deepEqual(failingUndos(run.program, run.state), ['order/b'], 'also while the undo is requested again');

    marked(run, 'order/b');
    assert.deepEqual(failingUndos(run.program, run.state), []);
    run.reply('order/a/undo', ok());
    assert.equal(run.state.outcome, 'compensated');
    assert.equal(run.requests.filter(({ path }) => path === 'order/b/undo').length, 2, 'it is never requested again');
  });

  test('if the outcome of a step is unknown, the mark says that there is nothing to undo', () => {
    const run = begun(sequence('order', undoable('a')));
    run.reply('order/a', fault('No', { unknown: true }));
    run.happen({ type: 'canceled', outcome: 'compensated' });
    run.reply('order/a', fault('No', { permanent: false }));
    assert.deepEqual(failingUndos(run.program, run.state), ['order/a']);
    marked(run, 'order/a');
    assert.deepEqual([run.state.outcome, run.requests.some(({ path }) => path === 'order/a/undo')], ['compensated', false]);
  });

  test('F-60, F-103: in a suspended order the undo keeps its mark and is not requested again; the next older undo begins when the order is resumed', () => {
    const run = begun(sequence('order', undoable('a'), undoable('b'), step('c')));
    for (const name of ['a', 'b']) run.reply(`order/${name}`, ok());
    run.reply('order/c', fault('No'));
    run.happen({ type: 'canceled', outcome: 'compensated' });
    run.reply('order/b/undo', fault('No', { permanent: false }));
    run.happen({ type: 'suspended' });
    const progress = () => undoProgress(run.program, run.state, []);
    assert.deepEqual(
      progress()?.stuck.map(({ path, nextAt }) => [path, nextAt]),
      [['order/b', null]],
      'time stands still, so there is no next request',
    );

    const { facts, commands } = run.happen({ type: 'markedCompensated', path: 'order/b' });
    assert.deepEqual([facts.map(({ type }) => type), commands, run.state.phase], [['MarkedCompensated'], [], 'suspended']);
    assert.deepEqual(failingUndos(run.program, run.state), []);
    assert.partialDeepStrictEqual(progress(), { done: 1, left: 1, stuck: [] });
    assert.deepEqual(
      undoPlan(run.program, { orderId: run.orderId, order: {} }, run.state, 'order', []).steps.map(({ path }) => path),
      ['order/a'],
    );
    assert.match(explain(run.program, run.state), /the undo of order\/b is marked as done\.$/);
    assert.equal(run.happen({ type: 'markedCompensated', path: 'order/b' }).facts.length, 0, 'a second mark changes nothing');

    run.now += 3_600_000;
    run.happen({ type: 'resumed' });
    run.reply('order/a/undo', ok());
    assert.equal(run.state.outcome, 'compensated');
    assert.equal(run.requests.filter(({ path }) => path === 'order/b/undo').length, 1);
  });

  test('F-103: a mark counts although a failure of the same undo arrives before the suspended order is canceled', () => {
    const run = handled();
    run.reply('order/a/undo', fault('No', { permanent: false }));
    run.now += 6_000;
    run.happen({ type: 'woken' });
    run.happen({ type: 'suspended' });
    marked(run, 'order/a');
    run.reply('order/a/undo', fault('No', { permanent: false }));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.equal(run.state.outcome, 'canceled');
    assert.equal(run.requests.filter(({ path }) => path === 'order/a/undo').length, 2);
  });

  test('a suspended order keeps the mark that there is nothing to undo for a step of unknown outcome', () => {
    const run = begun(sequence('order', undoable('a')));
    run.reply('order/a', fault('No', { unknown: true }));
    run.happen({ type: 'canceled', outcome: 'compensated' });
    run.reply('order/a', fault('No', { permanent: false }));
    run.happen({ type: 'suspended' });
    marked(run, 'order/a');
    assert.deepEqual(undoPlan(run.program, { orderId: run.orderId, order: {} }, run.state, 'order', []).steps, []);
    run.happen({ type: 'resumed' });
    assert.deepEqual([run.state.outcome, run.requests.some(({ path }) => path === 'order/a/undo')], ['compensated', false]);
  });

  test('after its compensation, a handler runs its remaining activities, and then the order continues', () => {
    const run = handled();
    run.reply('order/a/undo', fault('No'));
    marked(run, 'order/a');
    assert.equal(run.latestRequest('order/handler/tell').attempt, 1);
  });
});
