import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SupervisorPass } from '#roles/supervisor/supervisor';
import {
  accept,
  appOf,
  journalOf,
  pick,
  replyTo,
  requestedSteps,
  requests,
  startStill,
  stepMs,
  submitted,
  submittedMany,
  supervisorOf,
  takeWakeUps,
  wake,
} from './support.ts';

const oneStep = appOf((step) => step('one'));

const sumOf = (passes: readonly SupervisorPass[], what: keyof SupervisorPass): number => passes.reduce((sum, pass) => sum + pass[what], 0);
const never = new Promise<never>(() => {});

for (const recover of ['step', 'order'] as const) {
  test(`F-56: five supervisors recover each of 1,000 expired orders once, and lost races are counted (recover: ${recover})`, async (t) => {
    const system = await startStill(
      t,
      appOf((step) => step('one'), { recover }),
    );
    const orderIds = await submittedMany(system, 1000);
    await system.clock.advance(stepMs);
    const supervisors = Array.from({ length: 5 }, () => supervisorOf(system));
    const passes = await Promise.all(supervisors.map((supervisor) => supervisor.pass()));

    assert.equal(sumOf(passes, 'counted'), 1000);
    assert.deepEqual(new Set(await pick(system, orderIds, 'failureCount')), new Set([1]));
    assert.deepEqual(new Set(await pick(system, orderIds, 'epoch')), new Set([recover === 'order' ? 2 : 1]));
    assert.ok(sumOf(passes, 'lost') > 0);
    const lost = supervisors.reduce((sum, { telemetry }) => sum + (telemetry.counts()['recoveryLost'] ?? 0), 0);
    assert.equal(lost, sumOf(passes, 'lost'));
    assert.deepEqual((await takeWakeUps(system)).filter((id) => orderIds.includes(id)).length >= 1000, true);
  });
}

test('F-57: a supervisor that crashes in the middle of a page leaves no partial work, and the next one does the rest', async (t) => {
  const system = await startStill(t, oneStep);
  const orderIds = await submittedMany(system, 300);
  await system.clock.advance(stepMs);

  let writes = 0;
  const dying = supervisorOf(system, {
    pageSize: 20,
    store: { ...system.store, patch: (...write) => (++writes > 50 ? never : system.store.patch(...write)) },
  });
  void dying.pass();
  await system.clock.advance(0);
  const counted = (await pick(system, orderIds, 'failureCount')).filter((count) => count === 1).length;
  assert.equal(counted, 50);

  assert.equal((await supervisorOf(system, { pageSize: 20 }).pass()).counted, 250);
  assert.deepEqual(new Set(await pick(system, orderIds, 'failureCount')), new Set([1]));
});

test('F-57, X-1: when a supervisor crashes after counting an expiry, the next one sends the wake-up and does not count it again', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  void supervisorOf(system, { queues: { ...system.queues, send: () => never } }).pass();
  await system.clock.advance(0);
  assert.deepEqual(await takeWakeUps(system), []);

  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  assert.deepEqual(await takeWakeUps(system), [orderId]);
  await wake(system, orderId);
  assert.equal((await system.state(orderId)).failureCount, 1);
  assert.deepEqual(requestedSteps(system), ['one#1', 'one#2']);
});

test('F-57, X-1: an order that was reset by a crashed supervisor is claimed at the next pass', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { recover: 'order' }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  void supervisorOf(system, { queues: { ...system.queues, send: () => never } }).pass();
  await system.clock.advance(0);
  await supervisorOf(system).pass();
  assert.deepEqual(await takeWakeUps(system), [orderId]);
  await wake(system, orderId);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 1, epoch: 3 });
});

test('F-57, X-2: a count whose response was lost is not repeated', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  const store = {
    ...system.store,
    patch: (...write: Parameters<typeof system.store.patch>) =>
      system.store.patch(...write).then(() => Promise.reject(new Error('no answer'))),
  };
  await supervisorOf(system, { store }).pass();
  await supervisorOf(system).pass();
  assert.equal((await system.state(orderId)).failureCount, 1);
});

for (const first of ['supervisor', 'scheduler'] as const) {
  test(`X-23, S4, S15: when the last reply and the supervisor race (${first} first), the order completes or its expiry counts, never both`, async (t) => {
    const system = await startStill(
      t,
      appOf((step) => step('one'), { recover: 'order' }),
    );
    const orderId = await submitted(system);
    const reply = replyTo(requests(system)[0], system.clock.now());
    await system.clock.advance(stepMs);
    const moves = [() => supervisorOf(system).pass(), () => accept(system, orderId, reply)];
    await Promise.all((first === 'supervisor' ? moves : moves.toReversed()).map((move) => move()));

    const { processState, failureCount } = await system.state(orderId);
    const ends = (await journalOf(system, orderId)).filter(({ type }) => type === 'OrderProcessed').length;
    assert.deepEqual(
      { processState, failureCount, ends },
      processState === 'Processed' ? { processState, failureCount: 0, ends: 1 } : { processState: 'Pending', failureCount: 1, ends: 0 },
    );
  });
}
