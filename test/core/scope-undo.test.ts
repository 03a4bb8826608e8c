import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import type { Activity } from '#core/definition/definition';
import { kindOf, type OrderInstruction } from '#core/instructions/index';
import { worldOf } from '../support/chaos.ts';
import { give, judgedOf } from '../support/deeds.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: `un-${name}` }) as Step });
const reading = (name: string, of: string): Activity => step(name, { input: { of: { $cel: `steps.${of}.key` } } });
const compensate = (path: string) => ({ kind: 'compensate', path }) as const satisfies OrderInstruction;

const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};

/** An order whose step "c" is refused, inside the scope "inner", behind "a" outside and "b" inside. */
const blocked = (...behind: Activity[]): Run => {
  const run = begun(sequence('order', undoable('a'), sequence('inner', undoable('b'), undoable('c')), ...behind));
  run.reply('order/a', ok());
  run.reply('order/inner/b', ok({ key: 'b' }));
  run.reply('order/inner/c', fault('No'));
  return run;
};

const codesFor = (run: Run, path: string): readonly string[] =>
  kindOf(compensate(path))
    .refusals(judgedOf(worldOf(run)), compensate(path))
    .map(({ code }) => code);
const instruct = (run: Run, path: string) => run.happen({ type: 'instructed', instruction: compensate(path) });
const undosIn = (run: Run): readonly string[] => run.requests.flatMap(({ path }) => (path.endsWith('/undo') ? [path] : []));

describe('the undo of one scope of an order in Error', () => {
  test('F-100, F-157: an order goes on with the activity that follows the scope which a person has undone', () => {
    const run = blocked(step('d'));
    const world = worldOf(run);
    const check = give(world, judgedOf(world), compensate('order/inner'))?.check;
    assert.deepEqual(check?.effects.undoes, [{ path: 'order/inner/b', operation: 'un-b' }]);
    assert.deepEqual(check?.then, [{ path: 'order/d', operation: 'd' }]);

    instruct(run, 'order/inner');
    assert.deepEqual(undosIn(run), ['order/inner/b/undo']);
    run.reply('order/inner/b/undo', ok());
    run.reply('order/d', ok());
    assert.equal(run.state.outcome, 'completed', 'a later step runs, and what was done before the scope stays');
  });

  test('F-100: an order that is canceled later undoes no scope twice', () => {
    const run = blocked(step('d'));
    instruct(run, 'order/inner');
    run.reply('order/inner/b/undo', ok());
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/d', fault('No'));
    assert.deepEqual(undosIn(run), ['order/inner/b/undo', 'order/a/undo']);
  });

  test('F-100: an order undoes what a handler has done, if the person names the scope in it', () => {
    const handler = sequence('handler', undoable('b'), step('c'));
    const run = begun({ ...sequence('order', step('a', { faults: ['Late'] })), faultHandlers: [{ fault: 'Late', do: handler }] });
    run.reply('order/a', fault('Late'));
    run.reply('order/handler/b', ok());
    run.reply('order/handler/c', fault('No'));
    instruct(run, 'order/handler');
    assert.deepEqual(undosIn(run), ['order/handler/b/undo']);
    run.reply('order/handler/b/undo', ok());
    assert.equal(run.state.outcome, 'completed');
  });

  test('F-157: an order blocked in another branch stays as it is, and the refusal names the scopes to choose from', () => {
    const run = begun(parallel('order', sequence('one', undoable('a'), undoable('b')), sequence('two', undoable('c'), undoable('d'))));
    run.reply('order/one/a', ok());
    run.reply('order/one/b', fault('No'));
    const [refused] = kindOf(compensate('order/two')).refusals(judgedOf(worldOf(run)), compensate('order/two'));
    assert.deepEqual([refused?.code, refused?.pointer], ['other-branch', '/path']);
    assert.match(refused?.detail ?? '', /Name one of order\/one, or undo the whole order without "path"\./);
  });

  test('F-157: the undo of a scope is refused if a later step reads an output of the scope', () => {
    assert.deepEqual(codesFor(blocked(reading('d', 'b')), 'order/inner'), ['output-missing']);
    assert.deepEqual(codesFor(blocked(step('d')), 'order/inner'), []);
  });

  test('F-157: the undo of a scope is refused if the scope is not open', () => {
    const run = blocked(sequence('later', step('d')));
    assert.deepEqual(codesFor(run, 'order/later'), ['moved-on']);
    assert.deepEqual(codesFor(run, 'order/inner/b'), ['no-such-step']);
    assert.deepEqual(codesFor(run, 'order/none'), ['no-such-step']);
  });
});
