import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Step } from '#core/activities/step';
import type { Activity } from '#core/definition/definition';
import { type Program, programOf } from '#core/definition/program';
import type { StoredEntry } from '#roles/scheduler/instance';
import { undoOrder } from '#testing/laws/undo-order';
import type { History } from '#testing/world/history';
import { events, goWell, suffer, worldOf } from '../../support/chaos.ts';
import { fault, ok, type Run, startRun, stepMs } from '../../support/run.ts';
import { definitionOf, roots } from '../../support/shapes.ts';
import { parallel, sequence, step, workflow } from '../../support/workflows.ts';

type Fact = Readonly<Record<string, unknown> & { type: string }>;

const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: `un-${name}` }) as Step });
const [first, second, beside] = ['order/both/there/first', 'order/both/there/second', 'order/both/back/book'];
/** Two branches: "first" and "second" one after the other, and "book". */
const branches = (there: Activity = sequence('there', undoable('first'), undoable('second'), step('last', { faults: ['No'] }))) =>
  sequence('order', parallel('both', there, sequence('back', undoable('book'))), step('end', { faults: ['No'] }));

function judged(facts: readonly unknown[], program?: Program): readonly string[] {
  const order = { orderId: 'ord_1', journal: facts as readonly StoredEntry[], program };
  return undoOrder().atEnd?.({ sound: [order] } as unknown as History) ?? [];
}

const judgedRun = ({ turns, program }: Run): readonly string[] =>
  judged(
    turns.flatMap(({ facts }) => facts),
    program,
  );

const undosIn = (run: Run): readonly string[] => run.requests.flatMap(({ path }) => (path.endsWith('/undo') ? [path] : []));

/** An order of which everything in both branches is done, the "book" last. */
function begun(root: Activity = branches(), around = 'order/both/there'): Run {
  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  for (const path of [`${around}/first`, `${around}/second`, beside]) run.reply(path, ok());
  return run;
}

/** Answers each undo, until there is none. */
function undo(run: Run): void {
  for (let undone = 0; undone < undosIn(run).length; undone++) run.reply(undosIn(run)[undone] ?? '', ok());
}

/** Cancels the whole order. Its running step is refused. */
function cancel(run: Run, running = 'order/end'): void {
  run.happen({ type: 'canceled', outcome: 'canceled' });
  if (run.requests.some(({ path }) => path === running)) run.reply(running, fault('No'));
  undo(run);
}

const compensateThere = (run: Run) => run.happen({ type: 'instructed', instruction: { kind: 'compensate', path: 'order/both/there' } });

describe('the law of the undo order and a branch that is undone alone', () => {
  test('S11, F-101: an order that is canceled while one branch is undone alone completes that branch before the others', () => {
    const run = begun();
    run.reply('order/both/there/last', fault('No'));
    compensateThere(run);
    cancel(run);
    assert.deepEqual(undosIn(run), [`${second}/undo`, `${first}/undo`, `${beside}/undo`]);
    assert.deepEqual(judgedRun(run), []);
  });

  test('S11, F-100, F-101: an order confirms a step of unknown outcome in a branch before it undoes the branch', () => {
    const last = step('last', { faults: ['No'], undo: step('undo', { operation: 'un-last' }) as Step });
    const run = begun(branches(sequence('there', undoable('first'), undoable('second'), last)));
    run.reply('order/both/there/last', fault('No', { unknown: true }));
    compensateThere(run);
    run.reply('order/both/there/last', ok());
    undo(run);
    cancel(run);
    assert.deepEqual(undosIn(run), ['order/both/there/last/undo', `${second}/undo`, `${first}/undo`, `${beside}/undo`]);
    assert.deepEqual(judgedRun(run), []);
  });

  test('S11, F-101: an order whose branch compensates in its own handler keeps the effects of the other branch and of the handler', () => {
    const handler = sequence('handler', undoable('note'), { activity: 'compensate', name: 'compensate' });
    const there = sequence('there', undoable('first'), undoable('second'), step('last', { faults: ['No'] }));
    const run = begun(branches({ ...there, faultHandlers: [{ fault: 'No', do: handler }] }));
    run.reply('order/both/there/last', fault('No'));
    run.reply('order/both/there/handler/note', ok());
    undo(run);
    cancel(run);
    assert.deepEqual(undosIn(run), [`${second}/undo`, `${first}/undo`, 'order/both/there/handler/note/undo', `${beside}/undo`]);
    assert.deepEqual(judgedRun(run), []);
  });

  test('S11, F-101: an order whose branch is undone before its retry keeps the effects of the other branch', () => {
    const body = sequence('there', undoable('first'), undoable('second'), step('last', { faults: ['No'] }));
    const retry = { activity: 'retry', name: 'retry', do: body, retries: 1, intervalSeconds: 60, undoFirst: true } as Activity;
    const run = begun(branches(retry), 'order/both/retry/there');
    run.reply('order/both/retry/there/last', fault('No', { permanent: false }));
    undo(run);
    cancel(run);
    assert.equal(undosIn(run).at(-1), `${beside}/undo`);
    assert.deepEqual(judgedRun(run), []);
  });

  test('S11, F-101: an order that compensates a branch by its name keeps the effects of the other branch', () => {
    const handler = { activity: 'compensate', name: 'compensate', scope: 'there' } as Activity;
    const run = begun({
      ...branches(sequence('there', undoable('first'), undoable('second'))),
      faultHandlers: [{ fault: 'No', do: sequence('handler', handler, undoable('note')) }],
    } as Activity);
    run.reply('order/end', fault('No'));
    undo(run);
    cancel(run, 'order/handler/note');
    assert.equal(undosIn(run).at(-1), `${beside}/undo`);
    assert.deepEqual(judgedRun(run), []);
  });

  test('S11, F-100: an order with any events keeps the law, whatever its shape', () => {
    fc.assert(
      fc.property(roots, events, (shape, happen) => {
        const world = worldOf(startRun(definitionOf(shape)));
        world.run.happen({ type: 'started', stepMs });
        suffer(world, happen);
        goWell(world);
        assert.deepEqual(judgedRun(world.run), []);
      }),
      { numRuns: 500 },
    );
  });
});

const started = (...paths: readonly string[]): readonly Fact[] => paths.map((path) => ({ type: 'ActivityStarted', path }));
const requested = (path: string): Fact => ({ type: 'StepRequested', path });
const closed = (path: string, result = 'Succeeded'): Fact => ({ type: 'ActivityClosed', path, result });
const undone = (...paths: readonly string[]): readonly Fact[] =>
  paths.flatMap((path) => [requested(`${path}/undo`), closed(`${path}/undo`, 'Compensated')]);
/** The journal of an order that has done the steps of both branches, the "book" last. */
const open = started('order', 'order/both', 'order/both/there', 'order/both/back');
const done = [...open, closed(first), closed(second), closed(beside), closed('order/both/back')];
const ended = ['order/both/there', 'order/both', 'order'].map((path) => closed(path, 'Canceled'));

describe('the law of the undo order', () => {
  const violated = (path: string, later: string) => [`order ord_1: ${path} was undone before ${later}, which was done later`];

  test('S11, F-101: a branch that is undone oldest first breaks the law, even if the other branch is undone later', () => {
    assert.deepEqual(judged([...done, ...undone(first, second), ...ended, ...undone(beside)]), violated(first, second));
  });

  test('S11, F-101: a branch that is undone alone, oldest first, breaks the law', () => {
    assert.deepEqual(judged([...done, ...undone(first, second)]), violated(first, second));
  });

  test('S11, F-107: an order that is undone as a whole breaks the law if it undoes one branch before the later step of the other', () => {
    assert.deepEqual(judged([...done, ...ended, ...undone(second, first, beside)]), [
      ...violated(second, beside),
      ...violated(first, beside),
    ]);
    assert.deepEqual(judged([...done, ...ended, ...undone(beside, second, first)]), []);
  });

  test('S11, F-101: an order that is canceled during the undo of a branch breaks the law if it undoes the other branch oldest first', () => {
    const more = 'order/both/back/more';
    const both = [...open, closed(first), closed(beside), closed(more), closed('order/both/back')];
    assert.deepEqual(judged([...both, ...undone(first), ...ended, ...undone(beside, more)]), violated(beside, more));
  });

  test('S11, F-107: an order that continues after an undone branch breaks the law if it undoes the rest oldest first', () => {
    const later = 'order/later';
    const wentOn = [...undone(second, first), closed('order/both/there'), closed('order/both'), closed(later), closed('order', 'Canceled')];
    assert.deepEqual(judged([...done, ...wentOn, ...undone(beside, later)]), violated(beside, later));
  });

  test('S11, F-101: an order that compensates a branch by its name breaks the law if it undoes the branch oldest first', () => {
    const scope = { activity: 'compensate', name: 'compensate', scope: 'there' } as Activity;
    const program = programOf(workflow({ ...branches(), faultHandlers: [{ fault: 'No', do: scope }] }));
    const named = [...done, closed('order/both/there'), closed('order/both'), ...started('order/compensate')];
    assert.deepEqual(judged([...named, ...undone(first, second), ...undone(beside)], program), violated(first, second));
  });

  test('S11, F-99: a composite with an undo of its own takes the place of its steps', () => {
    const again = [...undone(second, first), ...started('order/both/there'), closed(first), closed(second), closed('order/both/there')];
    const whole = [...open, closed(first), closed(second), ...again, closed(beside), ...ended];
    assert.deepEqual(judged([...whole, ...undone(beside, 'order/both/there')]), []);
    assert.deepEqual(judged([...whole, ...undone('order/both/there', beside)]), violated('order/both/there', beside));
  });
});
