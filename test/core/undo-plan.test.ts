import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Step } from '#core/activities/step';
import type { CoreFact } from '#core/data/journal';
import { type Activity, isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { scopeNamed, type UndoPlan, undoPlan } from '#core/views/undo-plan';
import { events, type Happens, mark, suffer, type World, worldOf } from '../support/chaos.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { definitionOf, roots, type Shape } from '../support/shapes.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

const planOf = (run: Run, scope = 'order', done: readonly string[] = []): UndoPlan =>
  undoPlan(run.program, { orderId: run.orderId, order: {} }, run.state, scope, done);
const undoable = (name: string): Activity =>
  step(name, { undo: step('undo', { operation: `un-${name}`, input: { of: { $cel: `steps.${name}.id` } } }) as Step });
const begun = (root: Activity): Run => {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  return run;
};

describe('the plan of an undo', () => {
  test('the plan lists completed steps, newest first, with the inputs of their undos; it lists steps without an undo apart', () => {
    const run = begun(sequence('order', undoable('a'), step('b'), undoable('c'), step('d')));
    for (const name of ['a', 'b', 'c']) run.reply(`order/${name}`, ok({ id: name }));
    assert.deepEqual(planOf(run, 'order', ['order/a', 'order/b', 'order/c']), {
      scope: 'order',
      steps: [
        { path: 'order/c', agent: 'agent', operation: 'un-c', input: { of: 'c' }, outcomeUnknown: false },
        { path: 'order/a', agent: 'agent', operation: 'un-a', input: { of: 'a' }, outcomeUnknown: false },
      ],
      withoutUndo: [{ path: 'order/b', agent: 'agent', operation: 'b' }],
    });
  });

  test('the plan first confirms steps that are running or of unknown outcome; it leaves out refused steps, which had no effect', () => {
    const run = begun(parallel('order', undoable('a'), undoable('b'), undoable('c')));
    run.reply('order/a', fault('No', { unknown: true }));
    assert.equal(run.state.phase, 'blocked');
    run.reply('order/b', fault('No'));
    run.reply('order/c', ok({ id: 'c' }));
    assert.deepEqual(
      planOf(run).steps.map(({ path, input, outcomeUnknown }) => [path, input, outcomeUnknown]),
      [
        ['order/c', { of: 'c' }, false],
        ['order/a', null, true],
      ],
    );
  });

  test('an undo whose input cannot be evaluated will block the order, and the plan says why', () => {
    const undo = step('undo', { operation: 'un', input: { of: { $cel: 'vars.missing' } } }) as Step;
    const run = begun(parallel('order', sequence('s', step('a', { undo }), step('b')), step('c', { undo })));
    run.reply('order/s/a', ok());
    run.happen({ type: 'exhausted', path: 'order/s/b' });
    // This reply arrived while the order is blocked: the plan does not know it yet.
    run.reply('order/c', ok());
    for (const { impossible = '', ...planned } of planOf(run).steps) {
      assert.match(impossible, /missing/);
      assert.deepEqual([planned.input, planned.outcomeUnknown], [null, false]);
    }
    assert.deepEqual(
      planOf(run).steps.map(({ path }) => path),
      ['order/c', 'order/s/a'],
    );
  });

  test('the plan of a scope lists only steps inside it; for a composite with an undo, it lists that undo instead of those of its parts', () => {
    const whole: Activity = { ...sequence('whole', undoable('b'), step('c')), undo: step('undo', { operation: 'un-whole' }) as Step };
    const run = begun(sequence('order', undoable('a'), sequence('outer', whole), step('d')));
    for (const path of ['order/a', 'order/outer/whole/b', 'order/outer/whole/c']) run.reply(path, ok({ id: 1 }));
    const { program } = run;
    assert.deepEqual(
      [scopeNamed(program, 'outer'), scopeNamed(program, 'order/outer'), scopeNamed(program, 'a'), scopeNamed(program, 'nothing')],
      ['order/outer', 'order/outer', undefined, undefined],
    );
    const plan = planOf(run, 'order/outer', ['order/a', 'order/outer/whole/b', 'order/outer/whole/c']);
    assert.deepEqual([plan.steps.map(({ operation }) => operation), plan.withoutUndo], [['un-whole'], []]);
  });

  test('the undo of an order of any shape matches the plan, in the same sequence', () => {
    let undone = 0;
    fc.assert(
      fc.property(roots, events, (shape, happen) => {
        undone += carriedOut(shape, happen);
      }),
      { numRuns: 800 },
    );
    assert.ok(undone > 150, `only ${undone} steps were undone`);
  });
});

/**
 * Applies events to an order, makes the plan, compensates the order and compares; returns how many steps were undone.
 */
function carriedOut(shape: Shape, happen: readonly Happens[]): number {
  const run = startRun(definitionOf(shape));
  const world = worldOf(run);
  run.happen({ type: 'started', stepMs });
  // An event that ends the order here would leave nothing to plan.
  suffer(
    world,
    happen.filter(([, size]) => size % 10 !== 0),
  );
  if (run.state.phase === 'closed' || run.state.ending) return 0;
  // A cleanup will have done more by then.
  if (Object.keys(run.state.activities).some((path) => nodeAt(run.program, path).activity === 'story:ensure')) return 0;

  const plan = planOf(run);
  const before = run.requests.length;
  const turnsBefore = run.turns.length;
  const atWork = Object.keys(run.state.activities).flatMap((path) => (isUndo(run, path) ? [path] : []));
  const remote = Object.keys(run.state.activities).filter((path) => isRemote(nodeAt(run.program, path)));
  const alive = new Set(remote.map((path) => (isUndo(run, path) ? path.slice(0, -'/undo'.length) : path)));
  const severalAtOnce =
    Object.values(run.state.activities).filter(({ local: own }) => (own as { scope?: string } | undefined)?.scope).length > 0;
  world.marked.clear();
  run.happen({ type: 'canceled', outcome: 'compensated' });
  answerInOrder(world, plan);
  assert.equal(run.state.phase, 'closed');

  const begun = run.turns.slice(turnsBefore).flatMap(({ facts }) => facts.flatMap((fact) => undoBegunBy(run, fact)));
  const really = [...new Set([...atWork, ...begun])].map((path) => path.slice(0, -'/undo'.length));
  const said = plan.steps.filter(({ path, outcomeUnknown }) => !outcomeUnknown || really.includes(path)).map(({ path }) => path);
  assert.deepEqual(really.toSorted(), said.toSorted());
  // Running steps are undone in the order of their replies; completed steps follow in the order of the plan.
  const noted = said.filter((path) => !alive.has(path));
  if (!severalAtOnce) assert.deepEqual(really.slice(really.length - noted.length), noted);
  for (const { path, input, outcomeUnknown, impossible } of plan.steps) {
    const ask = run.requests.slice(before).find((each) => each.path === `${path}/undo`);
    if (ask && !outcomeUnknown) assert.deepEqual(ask.input, input);
    if (!outcomeUnknown) assert.equal(world.marked.has(path), impossible !== undefined, `a person resolves only ${path}`);
  }
  return really.length;
}

/** The path of an undo that is requested, or whose input cannot be evaluated. */
const undoBegunBy = (run: Run, fact: CoreFact): readonly string[] =>
  (fact.type === 'StepRequested' || fact.type === 'UndoFailed') && isUndo(run, fact.path) ? [fact.path] : [];

const isUndo = ({ program }: Run, path: string): boolean => path.endsWith('/undo') && isRemote(nodeAt(program, path));

/** Has every agent answer its requests, beginning with the plan's first step. */
function answerInOrder(world: World, { steps }: UndoPlan): void {
  const { run, service } = world;
  const place = (path: string): number => steps.findIndex((each) => each.path === path || `${each.path}/undo` === path);
  for (let turn = 0; run.state.phase !== 'closed'; turn++) {
    assert.ok(turn < 400, 'the order does not end');
    const live = Object.entries(run.state.activities).filter(
      ([path, { local: own }]) => isRemote(nodeAt(run.program, path)) && (own as { phase?: string }).phase === 'requested',
    );
    for (const [path] of live.toSorted(([a], [b]) => place(a) - place(b))) {
      const ask = run.requests.findLast((each) => each.path === path);
      const reply = ask && run.state.activities[path] ? service.answer(ask, 'does') : undefined;
      if (ask && reply) run.reply(path, reply, { ask });
    }
    for (const [path, { local: own }] of Object.entries(run.state.activities))
      if ((own as { phase?: string } | undefined)?.phase === 'impossible') mark(world, path);
    run.now += 45_000;
    if (turn % 50 === 49) run.now += 3_600_000;
    run.happen({ type: 'woken' });
  }
}
