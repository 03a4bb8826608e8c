import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { definitionPath } from '#core/data/ids';
import type { Activity } from '#core/definition/definition';
import { ahead, mayTakeSignal, takesSignalNow } from '#core/views/reachable';
import { events, goWell, suffer, worldOf } from '../support/chaos.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { definitionOf, roots } from '../support/shapes.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

const visa: Activity = { activity: 'waitFor', name: 'visa', signal: 'visa' };
const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};
const waitsAhead = ({ program, state }: Run): boolean => mayTakeSignal(program, state, 'visa');

describe('which activities of an order may still run', () => {
  test('only reachable activities begin, and an unreachable activity never becomes reachable', () => {
    fc.assert(
      fc.property(roots, events, (shape, happen) => {
        const run = startRun(definitionOf(shape));
        const happened = run.happen.bind(run);
        const watched: Run = Object.assign(run, {
          happen: (happening: Parameters<Run['happen']>[0]) => {
            const before = ahead(run.program, run.state);
            const transition = happened(happening);
            for (const path of beginnings(transition.facts)) assert.ok(before.has(path), `${path} began, and was not ahead`);
            for (const path of ahead(run.program, transition.state))
              assert.ok(before.has(path), `${path} is ahead now, and was not before`);
            return transition;
          },
        });
        const world = worldOf(watched);
        run.happen({ type: 'started', stepMs });
        suffer(world, happen);
        goWell(world);
        assert.equal(ahead(run.program, run.state).size, 0, 'nothing is ahead of an order that has ended');
      }),
      { numRuns: 500 },
    );
  });

  test('before the order begins, all of its activities are reachable, except undo steps', () => {
    const undoable = step('a', { undo: step('undo') as never });
    const { program, state } = startRun(workflow(sequence('order', undoable, visa)));
    assert.deepEqual([...ahead(program, state)], ['order', 'order/a', 'order/visa']);
  });

  test('in a sequence, activities that are over are unreachable; in a parallel, only open branches are reachable', () => {
    const run = begun(sequence('order', parallel('both', step('a'), visa), step('b')));
    assert.ok(waitsAhead(run));
    run.happen({ type: 'signaled', name: 'visa', payload: {} });
    assert.deepEqual([...ahead(run.program, run.state)].sort(), ['order', 'order/b', 'order/both', 'order/both/a']);
  });

  test('the branch that a choice did not take is unreachable', () => {
    const choice: Activity = { activity: 'choice', name: 'choice', branches: [{ when: true, do: step('a') }], otherwise: visa };
    assert.ok(waitsAhead(startRun(workflow(sequence('order', choice)))));
    assert.ok(!waitsAhead(begun(sequence('order', choice))));
  });

  test('the activities in a loop are reachable until its last turn, and the activities in a retry until its last run', () => {
    const body = (): Activity => sequence('body', visa, step('a'));
    const loop: Activity = { activity: 'forEach', name: 'loop', list: [1, 2], maxConcurrency: 1, do: body() };
    const run = begun(sequence('order', loop));
    run.happen({ type: 'signaled', name: 'visa', payload: {} });
    assert.ok(waitsAhead(run), 'in the second turn');
    run.reply('order/loop[0]/body/a', ok());
    run.happen({ type: 'signaled', name: 'visa', payload: {} });
    assert.ok(!waitsAhead(run));

    const retry = begun(
      sequence('order', { activity: 'retry', name: 'retry', retries: 1, intervalSeconds: 0, evenPermanent: true, do: body() }),
    );
    retry.happen({ type: 'signaled', name: 'visa', payload: {} });
    assert.ok(waitsAhead(retry), 'in the second run');
    retry.reply('order/retry/body/a', fault('No'));
    retry.happen({ type: 'signaled', name: 'visa', payload: {} });
    assert.ok(!waitsAhead(retry));
  });

  test('every handler is reachable while its composite may fault; after a fault, only the handler of that fault is reachable', () => {
    const both: Activity = {
      ...parallel('both', step('a'), step('b')),
      faultHandlers: [
        { fault: 'No', do: step('sorry') },
        { fault: 'Other', do: visa },
      ],
    };
    const run = begun(sequence('order', both));
    assert.ok(waitsAhead(run));
    run.reply('order/both/a', fault('No'));
    assert.ok(ahead(run.program, run.state).has('order/both/sorry'));
    assert.ok(!waitsAhead(run), 'while the other branch is being canceled');
  });

  test('a signal is accepted at once if an activity waits for it now and the order is not blocked', () => {
    const now = ({ program, state }: Run): boolean => takesSignalNow(program, state, 'visa');
    assert.ok(!now(begun(sequence('order', step('a'), visa))));
    const run = begun(parallel('order', visa, step('a')));
    assert.ok(now(run));
    run.reply('order/a', fault('No'));
    assert.deepEqual([now(run), waitsAhead(run)], [false, true], 'while the order is blocked');
  });

  test('an order that is being undone accepts no signal', () => {
    const run = begun(sequence('order', parallel('both', step('a', { undo: step('undo') as never }), visa)));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.equal(run.state.phase, 'running');
    assert.ok(!waitsAhead(run));
  });
});

/** Paths of the definition at which an activity began, without undo steps and the steps they confirm. */
const beginnings = (facts: ReturnType<Run['happen']>['facts']): readonly string[] =>
  facts.flatMap((fact) => (fact.type === 'ActivityStarted' ? [definitionPath(fact.path)] : []));
