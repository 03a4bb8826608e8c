import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sequence } from 'redress';
import type { TestSystem } from 'redress/testing';
import { type StateHead, shardOf } from '#ports/records';
import { alter, appOf, pick, silence, start, startStill, stepMs, submitted, submittedMany, supervisorOf, takeWakeUps } from './support.ts';

const oneStep = appOf((step) => step('one'));

const threeSteps = (step: Parameters<Parameters<typeof appOf>[0]>[0]) => sequence(step('one'), step('two'), step('three'));

/** Records every write from now on. */
function writesOf({ store }: TestSystem): readonly StateHead[] {
  const written: StateHead[] = [];
  const { create, update, patch } = store;
  store.create = (order, state, along) => create(order, state, along).finally(() => written.push(state));
  store.update = (state, fence, along) => update(state, fence, along).finally(() => written.push(state));
  store.patch = (head, fence) => patch(head, fence).finally(() => written.push(head));
  return written;
}

/** The positions in the worklist, without repetitions. */
const entriesIn = (writes: readonly StateHead[]): readonly (number | null)[] =>
  writes.map(({ worklistAt }) => worklistAt).filter((at, index, all) => index === 0 || at !== all[index - 1]);

for (const writesAndSendsAtomically of [true, false]) {
  test(`a healthy order enters the worklist once and leaves it once (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (t) => {
    const serve = async () => {
      await system.clock.sleep(1000);
      return {};
    };
    const system = await start(t, appOf(threeSteps, { serve }), { writesAndSendsAtomically });
    const writes = writesOf(system);
    const orderId = await submitted(system);
    const submittedAt = system.clock.now();
    await system.clock.advance(5000);
    assert.equal((await system.state(orderId)).processState, 'Processed');
    assert.equal(writes.length, 4);
    assert.deepEqual(entriesIn(writes), [submittedAt + stepMs, null]);
  });
}

test('an entry that is too early is moved by the supervisor in an ordinary write, and no failure counts', async (t) => {
  const serve = async () => {
    await system.clock.sleep(8000);
    return {};
  };
  const system = await start(t, appOf(threeSteps, { serve }));
  const writes = writesOf(system);
  const orderId = await submitted(system);
  const submittedAt = system.clock.now();
  await system.clock.advance(30_000);

  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processed', failureCount: 0, rev: writes.length });
  const [entered, moved, ...rest] = entriesIn(writes);
  assert.equal(entered, submittedAt + stepMs);
  assert.ok(moved !== null && moved !== undefined && moved > submittedAt + stepMs && moved <= submittedAt + 8000 + stepMs + 1000);
  assert.equal(rest.at(-1), null);
  assert.ok(entriesIn(writes).length <= 4);
});

test('X-25, S16: a stale index entry of an order that is finished, unknown, leased or not yet due has no effect', async (t) => {
  const system = await startStill(t, appOf(threeSteps));
  const [finished, leased, inTime] = [await submitted(system), await submitted(system), await submitted(system)];
  await alter(system, finished, { processState: 'Processed', nextDueAt: null, nextDueFor: null, worklist: null, worklistAt: null });
  await alter(system, leased, { processState: 'Error', nextDueFor: { kind: 'reminder' } });
  const ids = [finished, leased, inTime, 'ord_unknown'];
  const before = await pick(system, [finished, leased, inTime], 'rev');
  const ghostly = { ...system.store, due: async (_: string, shard: number) => (shard === 0 ? ids : []) };
  const pass = await supervisorOf(system, { store: ghostly }).pass();
  assert.deepEqual(pass, { looked: 4, counted: 0, woken: 0, intoError: 0, lost: 0 });
  assert.deepEqual(await pick(system, [finished, leased, inTime], 'rev'), before);
  assert.deepEqual(await takeWakeUps(system), []);
});

test('X-25: a sweep finds every order that the index has lost', async (t) => {
  const system = await startStill(t, appOf(threeSteps));
  const orderIds = await submittedMany(system, 250);
  await system.clock.advance(stepMs);
  const supervisor = supervisorOf(system, { store: { ...system.store, due: async () => [] } });
  assert.equal((await supervisor.pass()).looked, 0);
  assert.deepEqual(await supervisor.sweep(), { looked: 250, counted: 250, woken: 0, intoError: 0, lost: 0 });
  assert.deepEqual(new Set(await pick(system, orderIds, 'failureCount')), new Set([1]));
});

test('X-25, L1: an order that the index has lost is found within the hour, by the system itself', async (t) => {
  const system = await start(
    t,
    appOf((step) => step('one'), { serve: (_, call) => silence(call) }),
    { without: ['submissions', 'agent-worker', 'scheduler', 'dead-letter', 'bulk'] },
  );
  const orderId = await submitted(system);
  system.database.prepare('UPDATE states SET worklist = NULL').run();
  await system.clock.advance(3_590_000);
  assert.equal((await system.state(orderId)).failureCount, 0);
  await system.clock.advance(20_000);
  assert.equal((await system.state(orderId)).failureCount, 1);
});

for (const [what, head] of [
  ['damaged', '{"rev":'],
  ['written by a newer version', '{"schemaVersion":2}'],
] as const) {
  test(`F-63, X-48: a record that is ${what} delays no other order: the scheduler is woken for it, and the others are recovered`, async (t) => {
    const system = await startStill(t, oneStep);
    const [bad, ...good] = await submittedMany(system, 50);
    system.database.prepare('UPDATE states SET head = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)').run(head, bad ?? '');
    await system.clock.advance(stepMs);
    const pass = await supervisorOf(system, { pageSize: 10 }).pass();
    assert.deepEqual(pass, { looked: 50, counted: 49, woken: 1, intoError: 0, lost: 0 });
    assert.deepEqual(new Set(await pick(system, good, 'failureCount')), new Set([1]));
    assert.ok((await takeWakeUps(system)).includes(bad ?? ''));
  });
}

test('L1: orders that only get wake-ups keep their place in front, and hide no order behind them', async (t) => {
  const system = await startStill(t, oneStep);
  const waiting = await submittedMany(system, 80);
  for (const orderId of waiting)
    await alter(system, orderId, { processState: 'Pending', nextDueFor: { kind: 'unclaimed' }, worklistAt: 0 });
  const late = await submittedMany(system, 80);
  await system.clock.advance(stepMs);
  assert.deepEqual(await supervisorOf(system, { pageSize: 2 }).pass(), { looked: 160, counted: 80, woken: 80, intoError: 0, lost: 0 });
  assert.deepEqual(new Set(await pick(system, late, 'failureCount')), new Set([1]));
});

test('L1: a pass reads a bounded number of ids for each order, however many are due', async (t) => {
  const system = await startStill(t, oneStep);
  const waiting = await submittedMany(system, 1_000);
  for (const orderId of waiting)
    await alter(system, orderId, { processState: 'Pending', nextDueFor: { kind: 'unclaimed' }, worklistAt: 0 });
  await system.clock.advance(stepMs);
  let read = 0;
  const due: typeof system.store.due = async (...range) => {
    const ids = await system.store.due(...range);
    read += ids.length;
    return ids;
  };
  const { looked, woken } = await supervisorOf(system, { store: { ...system.store, due }, pageSize: 2 }).pass();
  assert.deepEqual([looked, woken], [1_000, 1_000]);
  assert.ok(read <= 3 * 1_000, `${read} ids`);
});

test('X-9: an order whose store access fails transiently is skipped, and found by the next pass', async (t) => {
  const system = await startStill(t, oneStep);
  const orderIds = await submittedMany(system, 20);
  await system.clock.advance(stepMs);
  const throttled = {
    ...system.store,
    head: (id: string) => (id === orderIds[7] ? Promise.reject(new Error('throttled')) : system.store.head(id)),
  };
  assert.equal((await supervisorOf(system, { store: throttled }).pass()).counted, 19);
  assert.equal((await supervisorOf(system).pass()).counted, 1);
});

test('F-64: a fatal store failure ends the pass instead of being skipped silently', async (t) => {
  const system = await startStill(t, oneStep);
  await submitted(system);
  await system.clock.advance(stepMs);
  const gone = Object.assign(new Error('gone'), { fatal: true });
  await assert.rejects(supervisorOf(system, { store: { ...system.store, head: () => Promise.reject(gone) } }).pass(), gone);
});

test('X-24: after hours without a supervisor one pass recovers all late orders, whatever the page size, the oldest of each shard first', async (t) => {
  const system = await startStill(t, oneStep);
  const orderIds: string[] = [];
  for (let minute = 0; minute < 120; minute++) {
    orderIds.push(await submitted(system));
    await system.clock.advance(60_000);
  }
  const order: string[] = [];
  const store = {
    ...system.store,
    patch: (...write: Parameters<typeof system.store.patch>) => system.store.patch(...write).finally(() => order.push(write[0].orderId)),
  };
  assert.equal((await supervisorOf(system, { store, pageSize: 7 }).pass()).counted, 120);
  assert.deepEqual(new Set(await pick(system, orderIds, 'failureCount')), new Set([1]));
  for (const shard of Map.groupBy(order, shardOf).values())
    assert.deepEqual(
      shard,
      orderIds.filter((id) => shard.includes(id)),
    );
});
