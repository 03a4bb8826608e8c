import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestSystem } from 'redress/testing';
import { queueNames } from '#ports/messages';
import type { SupervisorOptions } from '#roles/supervisor/supervisor';
import { alter, appOf, journalOf, pick, startStill, stepMs, submitted, submittedMany, supervisorOf, wake } from './support.ts';

const oneStep = appOf((step) => step('one'));
const replies = queueNames.replies('worker');
const options: Partial<SupervisorOptions> = { replyQueues: [replies], periodMs: 5000 };
const many = 20;

/** Orders whose step is never answered and that may not fail even once, with many unread messages on the reply queue. */
async function unread(t: TestContext, { orders, answers }: { orders: number; answers: number }) {
  const system = await startStill(t, oneStep, { variables: { MAX_FAILURES: '0' } });
  const orderIds = await submittedMany(system, orders);
  await system.queues.send(Array.from({ length: answers }, () => ({ queue: replies, body: '{}' })));
  return { system, orderIds };
}

const watching = (system: TestSystem, more: Partial<SupervisorOptions> = {}) => supervisorOf(system, { ...options, ...more });

/** Advances the clock with a supervisor pass every five seconds. */
async function looks(system: TestSystem, ms: number, supervisor = watching(system)) {
  for (let passed = 0; passed < ms; passed += 5000) {
    await system.clock.advance(5000);
    await supervisor.pass();
  }
  return supervisor;
}

/** Returns the distinct values of an attribute. */
const each = async <K extends Parameters<typeof pick>[2]>(
  { system, orderIds }: { system: TestSystem; orderIds: readonly string[] },
  key: K,
) => [...new Set(await pick(system, orderIds, key))];

test('X-45: while the reply queue of an agent is backed up, its steps are not late: deadlines move, no failure counts', async (t) => {
  const world = await unread(t, { orders: 5, answers: many });
  await looks(world.system, 5 * stepMs);
  assert.deepEqual([await each(world, 'processState'), await each(world, 'failureCount')], [['Processing'], [0]]);
  const [first = ''] = world.orderIds;
  await wake(world.system, first);
  const moved = (await journalOf(world.system, first)).filter(({ type }) => type === 'DeadlineMoved');
  assert.partialDeepStrictEqual(moved, [{ path: 'order/one', reason: 'the queue worker-replies is backed up' }]);
});

test('X-45: a queue that reports no message age counts as backed up after 20 or more messages waited in it for half of the step timeout', async (t) => {
  const world = await unread(t, { orders: 1, answers: many });
  const { system } = world;
  const { queues } = system;
  const ageless = { ...queues, depth: async (queue: string) => ({ ...(await queues.depth(queue)), oldestAgeMs: 0 }) };
  const supervisor = watching(system, { queues: ageless });
  const [orderId = ''] = world.orderIds;
  await alter(system, orderId, { maxFailures: 9 });
  for (const failureCount of [1, 1, 1]) {
    await system.clock.advance(stepMs);
    await supervisor.pass();
    assert.equal((await system.state(orderId)).failureCount, failureCount);
    await wake(system, orderId);
  }
});

for (const [what, answers, queue] of [
  ['a queue with few messages', many - 1, replies],
  ['the full queue of another agent', many, queueNames.replies('somebody')],
] as const)
  test(`X-45: ${what} does not excuse a late step: the expiry counts`, async (t) => {
    const world = await unread(t, { orders: 1, answers });
    await looks(world.system, 2 * stepMs, watching(world.system, { replyQueues: [queue] }));
    assert.deepEqual(await each(world, 'processState'), ['Error']);
  });

test('X-45: a full queue of young messages does not excuse a late step', async (t) => {
  const world = await unread(t, { orders: 1, answers: 0 });
  await world.system.clock.advance(stepMs - 1000);
  await world.system.queues.send(Array.from({ length: many }, () => ({ queue: replies, body: '{}' })));
  await world.system.clock.advance(1000);
  await supervisorOf(world.system, options).pass();
  assert.deepEqual(await each(world, 'processState'), ['Error']);
});

test('X-45: a queue whose depth cannot be read excuses no late step, and does not stop the pass', async (t) => {
  const world = await unread(t, { orders: 1, answers: many });
  const depth = async (): Promise<never> => Promise.reject(new Error('not now'));
  await looks(world.system, 2 * stepMs, watching(world.system, { queues: { ...world.system.queues, depth } }));
  assert.deepEqual(await each(world, 'processState'), ['Error']);
});

test('X-45, L1: behind a queue that stays backed up, expiries count again after ten minutes', async (t) => {
  const world = await unread(t, { orders: 1, answers: many });
  const supervisor = await looks(world.system, stepMs);
  await Promise.all(world.orderIds.map((orderId) => wake(world.system, orderId)));
  await looks(world.system, 570_000, supervisor);
  assert.deepEqual(await each(world, 'failureCount'), [0]);
  await looks(world.system, 40_000, supervisor);
  assert.deepEqual(await each(world, 'processState'), ['Error']);
});

test('X-45: people are notified once of a backed-up queue, although two supervisors find it', async (t) => {
  const { system, orderIds } = await unread(t, { orders: 5, answers: many });
  const [one, two] = [await looks(system, 2 * stepMs), await looks(system, stepMs)];
  await Promise.all(orderIds.map((orderId) => wake(system, orderId)));
  const announced = system.publisher.published(0, 100);
  assert.deepEqual([...new Set(announced.map(({ id }) => id))].length, 1);
  assert.partialDeepStrictEqual(announced[0], { detailType: 'Service Exception', detail: { type: 'Backlogged', source: replies } });
  assert.deepEqual(
    [one, two].map(({ telemetry }) => telemetry.counts()['backlogged']),
    [1, 1],
  );
  assert.deepEqual(await pick(system, orderIds, 'failureCount'), [0, 0, 0, 0, 0]);
});

test('X-45: when the supervisor finds most of many orders late by more than its period, the first expiry of each order counts as no failure, and the second expiry counts as one', async (t) => {
  const world = await unread(t, { orders: many, answers: 0 });
  await world.system.clock.advance(2 * stepMs);
  const { telemetry } = await looks(world.system, 5000);
  assert.deepEqual([await each(world, 'processState'), telemetry.counts()['backlogged']], [['Processing'], 1]);
  await Promise.all(world.orderIds.map((orderId) => wake(world.system, orderId)));
  await looks(world.system, 2 * stepMs);
  assert.deepEqual([await each(world, 'processState'), await each(world, 'failureCount')], [['Error'], [1]]);
});

test('X-45: if fewer than twenty orders are overdue, their failures count although the supervisor found them late', async (t) => {
  const world = await unread(t, { orders: many - 1, answers: 0 });
  await world.system.clock.advance(2 * stepMs);
  await looks(world.system, 5000);
  assert.deepEqual(await each(world, 'processState'), ['Error']);
});

test('X-45: many late orders that are found in time count, because the agent is silent and the system is not slow', async (t) => {
  const world = await unread(t, { orders: 3 * many, answers: 0 });
  await looks(world.system, stepMs + 5000);
  assert.deepEqual(await each(world, 'processState'), ['Error']);
});

test('X-45: the supervisor reads queue depths once a pass, and only if a step is late', async (t) => {
  const { system } = await unread(t, { orders: 5, answers: many });
  const queried: string[] = [];
  const depth = (queue: string) => {
    queried.push(queue);
    return system.queues.depth(queue);
  };
  const supervisor = supervisorOf(system, { ...options, queues: { ...system.queues, depth } });
  await submitted(system);
  await supervisor.pass();
  assert.deepEqual(queried, []);
  await system.clock.advance(stepMs);
  await supervisor.pass();
  assert.deepEqual(queried, [replies]);
});
