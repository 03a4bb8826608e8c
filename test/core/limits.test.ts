import assert from 'node:assert/strict';
import test from 'node:test';
import { check } from '#core/checks/check';
import { type Activity, limits } from '#core/definition/definition';
import { drive } from '../support/drive.ts';
import { fault, startRun, stepMs } from '../support/run.ts';
import { listOf, sequence, step, workflow } from '../support/workflows.ts';

/** Nested scopes with a step in the innermost one: this many levels, including the root. */
const nested = (levels: number): Activity =>
  listOf(levels - 2, (index) => index).reduce<Activity>(
    (inner, level) => ({ activity: 'scope', name: `s${level}`, do: inner }),
    step('charge', { faults: ['Refused'] }),
  );

const noted: Activity = { activity: 'assign', name: 'recorded', variable: 'recorded', value: true };

test(`an order may be ${limits.depthMax} levels deep, and a fault rises from the innermost level to the root`, () => {
  const root = { ...sequence('order', nested(limits.depthMax)), faultHandlers: [{ fault: 'Refused', do: noted }] };
  assert.deepEqual(check(workflow(root)), []);
  assert.notDeepEqual(check(workflow(sequence('order', nested(limits.depthMax + 1)))), []);

  const run = startRun(workflow(root));
  run.happen({ type: 'started', stepMs });
  const { facts } = run.reply(run.requests[0]?.path ?? '', fault('Refused'));
  assert.equal(run.state.outcome, 'completed');
  const closed = facts.flatMap((fact) =>
    fact.type === 'ActivityClosed' && fact.result === 'Faulted' ? [fact.path.split('/').length] : [],
  );
  assert.deepEqual(
    closed,
    listOf(limits.depthMax - 1, (index) => limits.depthMax - index),
  );
});

const parts = (more: object): Activity => ({
  activity: 'forEach',
  name: 'parts',
  list: { $cel: 'order.items' },
  do: sequence('part', step('pick'), step('pack', { input: { of: { $cel: 'steps.pick.id' }, item: { $cel: 'each.parts.item' } } })),
  ...more,
});

test('F-84: a loop over a thousand entries, fifty at a time, keeps the state below 100 KB', () => {
  const { state, requests, bytes } = drive(workflow(sequence('order', parts({ maxConcurrency: 50 }))), {
    order: { items: listOf(1000, (index) => `item-${index}`) },
  });
  assert.equal(state.outcome, 'completed');
  assert.equal(requests, 2000);
  assert.ok(Math.max(...bytes) < 100_000, `${Math.max(...bytes)} bytes`);
});

test(`F-84: a loop over ${limits.itemsMax + 1} entries is a fault, and none of its turns begins`, () => {
  const { state, requests } = drive(workflow(sequence('order', parts({}))), { order: { items: listOf(limits.itemsMax + 1, () => 0) } });
  assert.equal(state.blocked?.fault.type, 'Engine/TooManyItems');
  assert.equal(requests, 0);
});

const loop = (turns: number, more: object = {}): Activity =>
  sequence(
    'order',
    { activity: 'assign', name: 'begin', variable: 'turn', value: 0 },
    {
      activity: 'while',
      name: 'loop',
      condition: { $cel: `vars.turn < ${turns}` },
      do: sequence('turn', step('poll'), step('note', { input: { $cel: 'steps.poll.id' } }), {
        activity: 'assign',
        name: 'count',
        variable: 'turn',
        value: { $cel: 'vars.turn + 1' },
      }),
      ...more,
    },
  );

test('F-87: ten thousand turns leave no data behind in the state', () => {
  const { state, requests, bytes } = drive(workflow(loop(10_000, { maxTurns: 10_000 })));
  assert.equal(state.outcome, 'completed');
  assert.equal(requests, 20_000);
  // Only the numbers grow, from one digit to four.
  assert.ok(Math.max(...bytes) < Math.max(...bytes.slice(0, 10)) + 50, `${bytes[1]} to ${Math.max(...bytes)} bytes`);
});

test(`F-87: a loop without a declared limit makes at most ${limits.turnsMax} turns`, () => {
  const { state, requests } = drive(workflow(loop(10_000)));
  assert.equal(state.blocked?.fault.type, 'Engine/TooManyTurns');
  assert.equal(requests, 2 * limits.turnsMax);
});

test('a sequence without undo has as small a state at the thousandth step as at the first', () => {
  const most = [10, 100, 1000].map((length) =>
    Math.max(...drive(workflow(sequence('order', ...listOf(length, (index) => step(`s${index}`))))).bytes),
  );
  const [few = 0, , many = 0] = most;
  assert.ok(many <= few + 10, `${most.join(', ')} bytes`);
});

test('F-93: a closed retry keeps no data about its earlier runs', () => {
  const retry: Activity = { activity: 'retry', name: 'retry', retries: 3, intervalSeconds: 1, do: sequence('body', step('a'), step('b')) };
  const { state, bytes } = drive(
    workflow(
      sequence('order', {
        activity: 'forEach',
        name: 'parts',
        list: listOf(200, (index) => index),
        maxConcurrency: 1,
        do: retry,
      }),
    ),
  );
  assert.equal(state.outcome, 'completed');
  assert.ok(Math.max(...bytes) < Math.max(...bytes.slice(0, 5)) + 50, `${Math.max(...bytes)} bytes`);
});

test('F-84: the outputs of a turn are dropped when the turn ends, even if no expression has read them', () => {
  const either: Activity = {
    activity: 'choice',
    name: 'either',
    branches: [{ when: false, do: step('pack', { input: { $cel: 'steps.pick.id' } }) }],
  };
  const over = (length: number) =>
    drive(workflow(sequence('order', parts({ maxConcurrency: 1, do: sequence('part', step('pick'), either) }), step('last'))), {
      order: { items: listOf(length, () => 0) },
    });
  const [few, many] = [over(12), over(112)];
  assert.deepEqual([few.state.outcome, many.state.outcome], ['completed', 'completed']);
  assert.deepEqual(many.state.outputs, {});
  assert.ok(Math.max(...many.bytes) < Math.max(...few.bytes) + 50, `${Math.max(...many.bytes)} bytes`);
});
