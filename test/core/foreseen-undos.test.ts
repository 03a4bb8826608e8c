import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import type { Activity } from '#core/definition/definition';
import type { Check } from '#core/instructions/check';
import { worldOf } from '../support/chaos.ts';
import { give, judgedOf } from '../support/deeds.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const undoable = (name: string, input = {}): Activity => step(name, { undo: step('undo', { operation: `un-${name}`, input }) as Step });
/** Its undo reads a variable that has no value. */
const notUndoable = (name: string): Activity => undoable(name, { of: { $cel: 'vars.missing' } });

const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};

/** Returns the undos that the check of a cancellation lists, and its warnings. */
function foreseen(run: Run): { readonly undoes: readonly string[]; readonly warnings: Check['warnings'] } {
  const world = worldOf(run);
  const given = give(world, judgedOf(world), { kind: 'cancel' });
  assert.ok(given, 'the order can be canceled');
  return { undoes: given.check.effects.undoes.map(({ path }) => path), warnings: given.check.warnings };
}

const undosIn = (run: Run): readonly string[] => run.requests.flatMap(({ path }) => (path.endsWith('/undo') ? [path] : []));

describe('the undos that the check of a cancellation foresees', () => {
  test('F-157: include the steps before a running step without an undo, with a warning that its outcome is unknown', () => {
    const order = () => {
      const run = begun(sequence('order', undoable('a'), notUndoable('b')));
      run.reply('order/a', ok());
      return run;
    };
    const { undoes, warnings } = foreseen(order());
    assert.deepEqual(undoes, ['order/a']);
    assert.deepEqual(
      warnings.map(({ code, path }) => [code, path]),
      [
        ['outcome-unknown', 'order/b'],
        ['undo-running', 'order/a'],
      ],
    );
    assert.equal(
      warnings[1]?.detail,
      'It is not known yet whether order/b was done. If it was, a person must undo it first, and then order/a is undone.',
    );

    const refused = order();
    refused.happen({ type: 'canceled', outcome: 'canceled' });
    refused.reply('order/b', fault('No'));
    assert.deepEqual(undosIn(refused), ['order/a/undo']);

    const done = order();
    done.happen({ type: 'canceled', outcome: 'canceled' });
    done.reply('order/b', ok());
    assert.deepEqual(undosIn(done), [], 'the order waits for a person');
    done.happen({ type: 'markedCompensated', path: 'order/b' });
    assert.deepEqual(undosIn(done), ['order/a/undo']);
  });

  test('F-157: an order whose clean-up waits for a signal is undone after the time of the wait', () => {
    const root = {
      activity: 'story:ensure',
      name: 'order',
      do: undoable('a'),
      last: { activity: 'waitFor', name: 'wait', signal: 'paid', withinSeconds: 15 },
    } as Activity;
    const order = () => {
      const run = begun(sequence('order', undoable('first'), { ...root, name: 'ensure' }));
      run.reply('order/first', ok());
      return run;
    };
    const run = order();
    assert.deepEqual(foreseen(run).undoes, ['order/ensure/a', 'order/first']);

    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/ensure/a', ok());
    run.reply('order/ensure/a/undo', ok());
    assert.deepEqual(undosIn(run), ['order/ensure/a/undo']);
    run.now += 15_000;
    run.happen({ type: 'woken' });
    assert.deepEqual(undosIn(run), ['order/ensure/a/undo', 'order/first/undo']);
  });
});
