import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Step } from '#core/activities/step';
import { advance } from '#core/advance';
import type { Command } from '#core/data/command';
import type { Event } from '#core/data/event';
import type { Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import type { Activity } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { type Remains, rebuiltState } from '#core/engine/rebuild';
import { events, type Happens, isSeenTo, isUndone, suffer, type World, worldOf } from '../support/chaos.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import type { Service } from '../support/service.ts';
import { definitionOf, roots, type Shape } from '../support/shapes.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const factsOf = ({ turns }: Run): readonly Fact[] =>
  turns.flatMap(({ at, facts }) => facts.map((fact) => ({ ...fact, at }))).map((fact, index) => ({ ...fact, seq: index + 1 }));
const rebuiltFrom = (run: Run, facts: readonly Fact[], isWhole: boolean, order: Json = {}): Remains =>
  rebuiltState(run.program, { orderId: run.orderId, order }, facts, {
    isWhole,
    resubmitted: blockedIn(factsOf(run)) > blockedIn(facts),
    stepMs,
    lastAt: run.now,
  });
const blockedIn = (facts: readonly Fact[]): number => facts.filter(({ type }) => type === 'OrderBlocked').length;
const undoable = (name: string, input: Json = {}): Activity =>
  step(name, { input, undo: step('undo', { operation: `un-${name}`, input: { of: { $cel: `steps.${name}.id` } } }) as Step });
const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};

describe('F-29: the rebuilt state of an order whose state is lost', () => {
  test('a completed step is undone with its recorded output, newest first; a refused one is not undone', () => {
    const run = begun(
      sequence('order', undoable('a'), { activity: 'assign', name: 'set', variable: 'n', value: 7 }, undoable('b'), undoable('c')),
    );
    run.reply('order/a', ok({ id: 'A' }));
    run.reply('order/b', ok({ id: 'B' }));
    run.reply('order/c', fault('No'));
    const { state, problems } = rebuiltFrom(run, factsOf(run), true);
    assert.deepEqual(problems, []);
    assert.deepEqual(state.vars, { n: 7 });
    assert.deepEqual(
      state.undo?.map(({ path, input }) => [path, input]),
      [
        ['order/a', { of: 'A' }],
        ['order/b', { of: 'B' }],
        ['order/c', undefined],
      ],
    );
  });

  test('F-104: a step for which a rule raised a fault may have been done, so its undo is not lost', () => {
    const handler = { fault: 'Slow', do: step('b') };
    const run = begun(sequence('order', { activity: 'scope', name: 'x', do: undoable('a'), faultHandlers: [handler] }));
    const raised = { type: 'Slow', class: 'expected', permanent: true, message: 'too slow' } as const;
    const action = { kind: 'raise', fault: raised, toPerson: false } as const;
    const event = { type: 'decided', rule: { id: 'slow', version: 1 }, action, path: 'order/x/a' } as const;
    run.happen(event);
    assert.deepEqual(
      run.state.undo?.map(({ path }) => path),
      ['order/x/a'],
    );
    const facts = factsOf(run).map((fact) => (fact.type === 'FaultRaised' ? { ...fact, event } : fact));
    assert.deepEqual(
      rebuiltFrom(run, facts, true).state.undo?.map(({ path, input }) => [path, input]),
      [['order/x/a', undefined]],
    );
  });

  test('after a loss of journal lines, every step with an undo may have been requested; steps known to be undone are left out', () => {
    const run = begun(sequence('order', undoable('a'), step('b'), undoable('c'), undoable('d')));
    run.reply('order/a', ok({ id: 'A' }));
    const { state } = rebuiltFrom(run, factsOf(run), false);
    assert.deepEqual(
      state.undo?.map(({ path, input, requestInput }) => [path, input, requestInput]),
      [
        ['order/a', { of: 'A' }, undefined],
        ['order/c', undefined, {}],
        ['order/d', undefined, {}],
      ],
    );
    assert.deepEqual(
      rebuiltFrom(run, factsOf(run), true).state.undo?.map(({ path }) => path),
      ['order/a'],
    );
  });

  test('a masked value of the journal is not sent: its step is confirmed so that the value is known again, or a person must decide', () => {
    const run = begun(sequence('order', undoable('a'), undoable('b', { of: { $cel: 'steps.a.id' } }), step('c')));
    run.reply('order/a', ok({ id: '[secret]' }));
    const { state, problems } = rebuiltFrom(run, factsOf(run), true);
    assert.deepEqual(
      state.undo?.map(({ path, input }) => [path, input]),
      [
        ['order/a', undefined],
        ['order/b', undefined],
      ],
    );
    assert.deepEqual(problems, ['It cannot be confirmed whether order/b was done: its input needs lost or secret data.']);
  });

  test('facts about paths outside the workflow, or with malformed attempt ids, are ignored', () => {
    const run = begun(sequence('order', undoable('a')));
    const requested = (path: string, attemptId: string): Fact => ({
      type: 'StepRequested',
      path,
      attemptId,
      completeBy: run.now,
      seq: 1,
      at: run.now,
    });
    const entries = (...facts: readonly Fact[]) =>
      rebuiltFrom(run, facts, true).state.undo?.map(({ path, generation, attempt }) => [path, generation, attempt]);
    const wrong = ['', '1#1', 'x1#1.1', '1#1.1x', '1#x.1'].map((id) => requested('order/a', id));
    assert.deepEqual(
      entries(requested('order/gone', '1#1.1'), { type: 'SignalReceived', name: 'paid', seq: 1, at: run.now }, ...wrong),
      [],
    );
    assert.deepEqual(entries(requested('order/a', '12#10.34')), [['order/a', 12, 34]]);
  });

  test('an order of any shape, compensated from its journal or a prefix of it, leaves no effect behind', () => {
    const counts = { undone: 0, infeasible: 0 };
    fc.assert(
      fc.property(roots, events, fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 2 }), (shape, happen, part) => {
        const result = undoneByJournal(shape, happen, part);
        if (result === undefined) counts.infeasible += 1;
        else counts.undone += result;
      }),
      { numRuns: 600 },
    );
    assert.ok(counts.undone > 60 && counts.infeasible < 600, JSON.stringify(counts));
  });
});

/** Returns how many effects were undone; undefined if the order refused to compensate. */
function undoneByJournal(shape: Shape, happen: readonly Happens[], part: number | null): number | undefined {
  const run = startRun(definitionOf(shape));
  const world = worldOf(run);
  run.happen({ type: 'started', stepMs });
  suffer(world, happen);
  if (run.state.phase === 'closed') return 0;

  const facts = factsOf(run);
  const left = part === null ? facts : facts.slice(0, Math.floor(part * facts.length));
  const { state, problems } = rebuiltFrom(run, left, left.length === facts.length);
  if (problems.length > 0) return undefined;
  bringToItsEnd(run, state, world.service);
  return effectsUndone(world);
}

/** Compensates the order, with every agent answering. It skips the laws of a run, which know the lost part. */
function bringToItsEnd({ program, orderId, epoch, now }: Run, rebuilt: State, service: Service): void {
  let state = rebuilt;
  const happen = (event: object): readonly Command[] => {
    const transition = advance(program, { orderId, order: {} }, state, { at: now + hours, epoch: epoch + 1, ...event } as Event);
    state = transition.state;
    return transition.commands;
  };
  const requests = [...happen({ type: 'canceled', outcome: 'compensated' })];
  for (let ask = requests.shift(); ask !== undefined; ask = requests.shift()) {
    const reply = ask.type === 'request' ? service.answer(ask, 'does') : undefined;
    if (ask.type === 'request' && reply)
      requests.push(...happen({ type: 'replied', requestId: ask.requestId, sentAt: now + hours, reply }));
  }
  assert.deepEqual([state.phase, state.outcome], ['closed', 'compensated']);
}

const hours = 10 * 3_600_000;

/** Asserts that every effect with an undo is undone or marked by a person; returns how many. */
function effectsUndone({ run, service: { applied }, marked }: World): number {
  const known = new Set(applied.keys());
  const undoables = [...applied].filter(
    ([, { path }]) => !path.endsWith('/undo') && nodeAt(run.program, path).undo && !isSeenTo(marked, path),
  );
  for (const [key, { path }] of undoables) assert.ok(isUndone(run, known, key, path), `${key} was done, and is not undone`);
  return undoables.length;
}
