import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delay, sequence } from 'redress';
import type { DueFor } from '#ports/records';
import {
  alertsOf,
  alter,
  appOf,
  journalOf,
  pick,
  silence,
  start,
  startStill,
  stepMs,
  submitted,
  supervisorOf,
  takeWakeUps,
  wake,
} from './support.ts';

const oneStep = appOf((step) => step('one'));
const expired = { looked: 1, counted: 1, woken: 0, intoError: 0, lost: 0 };
const uncounted = { ...expired, counted: 0 };
const wokenOnly = { ...uncounted, woken: 1 };

test('F-48, S16: among records in every state, the supervisor touches only those in Processing with a past deadline', async (t) => {
  const system = await startStill(t, oneStep);
  const [late, finished, inError, suspended, pending] = [
    await submitted(system),
    await submitted(system),
    await submitted(system),
    await submitted(system),
    await submitted(system),
  ];
  await alter(system, finished, { processState: 'Processed', outcome: 'completed', nextDueAt: null, nextDueFor: null });
  await alter(system, inError, { processState: 'Error', nextDueFor: { kind: 'reminder' } });
  await alter(system, suspended, { suspended: true });
  await alter(system, pending, { processState: 'Pending', lockedBy: null, nextDueFor: { kind: 'unclaimed' } });
  await system.clock.advance(1);
  const inTime = await submitted(system);
  const all = [late, finished, inError, suspended, pending, inTime];
  const revs = await pick(system, all, 'rev');

  await system.clock.advance(stepMs - 1);
  assert.deepEqual(await supervisorOf(system).pass(), { looked: 5, counted: 1, woken: 1, intoError: 0, lost: 0 });
  assert.deepEqual(await supervisorOf(system).sweep(), { looked: 6, counted: 0, woken: 1, intoError: 0, lost: 0 });
  assert.deepEqual(new Set(await takeWakeUps(system)), new Set([late, pending]));
  const touched = (await pick(system, all, 'rev')).map((rev, index) => rev !== revs[index]);
  assert.deepEqual(touched, [true, false, false, false, false, false]);
  assert.deepEqual(await pick(system, all, 'failureCount'), [1, 0, 0, 0, 0, 0]);
});

test('F-48: an order is late from its completeBy on, and not a millisecond earlier', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs - 1);
  assert.equal((await supervisor.pass()).looked, 0);
  await system.clock.advance(1);
  assert.equal((await system.state(orderId)).completeBy, system.clock.now());
  assert.deepEqual(await supervisor.pass(), expired);
});

test('F-48, X-12: with CLOCK_TOLERANCE_MS a deadline counts only when that much time has passed', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system, { clockToleranceMs: 2000 });
  await system.clock.advance(stepMs + 1999);
  assert.deepEqual(await supervisor.pass(), uncounted);
  assert.equal((await system.state(orderId)).rev, 1);
  await system.clock.advance(1);
  assert.deepEqual(await supervisor.pass(), expired);
});

test('F-48, X-12: an expiry counts from its discovery, even if the clock is set back before the write', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  let setBackMs = 0;
  const depth = async () => {
    setBackMs = 60_000;
    return { visible: 0, inFlight: 0, delayed: 0, oldestAgeMs: 0 };
  };
  const supervisor = supervisorOf(system, {
    clock: { ...system.clock, now: () => system.clock.now() - setBackMs },
    queues: { send: system.queues.send, depth },
    replyQueues: ['worker-replies'],
  });
  await system.clock.advance(stepMs);
  assert.deepEqual(await supervisor.pass(), expired);
  assert.equal(setBackMs, 60_000);
  assert.deepEqual(
    (await system.state(orderId)).notes.map(({ at }) => at),
    [system.clock.now()],
  );
});

test('F-48: the host passes CLOCK_TOLERANCE_MS to its supervisor', async (t) => {
  const system = await start(t, oneStep, { variables: { CLOCK_TOLERANCE_MS: '3000' }, without: ['agent-worker'] });
  const orderId = await submitted(system);
  await system.clock.advance(stepMs + 2500);
  assert.equal((await system.state(orderId)).failureCount, 0);
  await system.clock.advance(2500);
  assert.equal((await system.state(orderId)).failureCount, 1);
});

test('F-49: each expiry counts once, even if the supervisor passes several times before the next attempt', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  for (const count of [1, 2, 3]) {
    await system.clock.advance(stepMs);
    assert.deepEqual(await supervisor.pass(), expired);
    for (let look = 0; look < 5; look++) assert.equal((await supervisor.pass()).counted, 0);
    assert.equal((await system.state(orderId)).failureCount, count);
    await wake(system, orderId);
  }
});

test('F-49, X-22: when two supervisors find an expiry at the same time, it counts once, and the slower one loses the race', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const [one, two] = [supervisorOf(system), supervisorOf(system)];
  for (const count of [1, 2, 3]) {
    await system.clock.advance(stepMs);
    const passes = await Promise.all([one.pass(), two.pass()]);
    assert.deepEqual(passes.map(({ counted }) => counted).toSorted(), [0, 1]);
    assert.deepEqual(passes.map(({ lost }) => lost).toSorted(), [0, 1]);
    assert.equal((await system.state(orderId)).failureCount, count);
    await wake(system, orderId);
  }
  assert.deepEqual(
    [one, two].reduce((sum, { telemetry }) => sum + (telemetry.counts()['recoveryLost'] ?? 0), 0),
    3,
  );
});

test('F-49, X-24: a scheduler that is hours late does not turn one expiry into many', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  for (let hour = 0; hour < 6; hour++) {
    await system.clock.advance(3_600_000);
    await supervisor.pass();
  }
  assert.equal((await system.state(orderId)).failureCount, 1);
  assert.deepEqual(new Set(await takeWakeUps(system)), new Set([orderId]));
});

test('F-49: the next write of the scheduler adds an expiry that the supervisor has counted to the journal, once', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  await wake(system, orderId);
  const entries = (await journalOf(system, orderId)).filter(({ type }) => type === 'DeadlineExpired');
  assert.deepEqual(
    entries.map(({ seq: _, at: __, ...entry }) => entry),
    [{ type: 'DeadlineExpired', path: 'order/one', failureCount: 1 }],
  );
});

for (const kind of ['unclaimed', 'timer', 'outbox', 'unsent', 'request'] as const satisfies readonly DueFor['kind'][]) {
  test(`F-48: a deadline for "${kind}" sends a wake-up and never counts`, async (t) => {
    const system = await startStill(t, oneStep);
    const orderId = await submitted(system);
    await alter(system, orderId, {
      nextDueFor: { kind },
      ...(kind === 'unclaimed' ? { processState: 'Pending' as const, lockedBy: null } : {}),
    });
    await system.clock.advance(stepMs);
    const before = await system.state(orderId);
    assert.deepEqual(await supervisorOf(system).pass(), wokenOnly);
    assert.deepEqual(await system.state(orderId), before);
    assert.deepEqual(await takeWakeUps(system), [orderId]);
  });
}

for (const [steps, completeWithinSeconds, wokenAfter] of [
  ['seconds', 2, [0, 2, 6, 14, 30, 60, 90]],
  ['minutes', 300, [0, 30, 60, 90]],
] as const) {
  test(`F-48, L1: with a step timeout of ${steps}, an order whose wake-ups get lost is woken after ${wokenAfter.join(', ')} s`, async (t) => {
    const system = await startStill(t, oneStep, { variables: { STEP_COMPLETE_WITHIN_SECONDS: String(completeWithinSeconds) } });
    const orderId = await submitted(system);
    await alter(system, orderId, { nextDueFor: { kind: 'request' } });
    await system.clock.advance(completeWithinSeconds * 1000);
    const supervisor = supervisorOf(system);
    const woken: number[] = [];
    for (let seconds = 0; seconds < 100; seconds++) {
      if ((await supervisor.pass()).woken > 0) woken.push(seconds);
      await system.clock.advance(1000);
    }
    assert.deepEqual(woken, wokenAfter);
  });
}

test('F-15: while another host holds the lease, the deadline moves to the end of the lease, and no failure counts', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  const lease = await system.host.hold(orderId, 60_000);
  await system.clock.advance(stepMs);
  assert.deepEqual(await supervisorOf(system).pass(), uncounted);

  const { failureCount, nextDueAt, nextDueFor, worklistAt, notes, heldUntil: until } = await system.state(orderId);
  assert.deepEqual(
    { failureCount, nextDueAt, worklistAt, kind: nextDueFor?.kind },
    { failureCount: 0, nextDueAt: until, worklistAt: until, kind: 'step' },
  );
  assert.deepEqual(
    notes.map(({ type }) => type),
    ['DeadlineMoved'],
  );
  assert.deepEqual(await takeWakeUps(system), []);
  await lease?.release();
});

test('F-22: an expired lease does not keep a deadline from counting', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  await alter(system, orderId, { heldBy: 'host-that-died', heldUntil: system.clock.now() + stepMs });
  await system.clock.advance(stepMs);
  assert.deepEqual(await supervisorOf(system).pass(), expired);
});

test('F-11, F-48: a Pending order whose wake-up was lost is claimed within one period, and no failure counts', async (t) => {
  const system = await start(t, oneStep, { variables: { CLAIM_ON_SUBMIT: 'off' } });
  const { queues } = system;
  const { create } = system.store;
  system.store.create = (order, state, along) => create(order, state, { ...along, messages: [] });
  const orderId = await submitted(system);
  system.store.create = create;
  assert.deepEqual(await queues.depth('wake-ups'), { visible: 0, inFlight: 0, delayed: 0, oldestAgeMs: 0 });
  assert.equal((await system.state(orderId)).processState, 'Pending');
  await system.clock.advance(3000);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processed', failureCount: 0 });
});

test('X-27, S17, L3: while the event bus fails, an alert stays in the outbox and is retried, and no failure counts', async (t) => {
  const system = await start(
    t,
    appOf((step) => step('one'), { maxFailures: 0, serve: (_, call) => silence(call) }),
    { writesAndSendsAtomically: false },
  );
  const { publish } = system.publisher;
  system.publisher.publish = async (announcements) => ({ failed: announcements.map(({ id }) => id) });
  const orderId = await submitted(system);
  await system.clock.advance(60_000);
  assert.deepEqual(alertsOf(system, orderId), []);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Error', failureCount: 1, worklist: 'due' });

  system.publisher.publish = publish;
  await system.clock.advance(20_000);
  assert.deepEqual(alertsOf(system, orderId), ['Order In Error', 'Exception Raised', 'Task Opened', 'Workflow Terminated']);
  assert.partialDeepStrictEqual(await system.state(orderId), { failureCount: 1, outbox: [], worklist: 'error' });
});

test('F-89, F-48: a due timer is not a failure, however late the supervisor passes', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => sequence(delay({ seconds: 60 }), step('one'))),
  );
  const orderId = await submitted(system);
  await takeWakeUps(system);
  await system.clock.advance(3_600_000);
  await supervisorOf(system).pass();
  for (const woken of await takeWakeUps(system)) await wake(system, woken);
  assert.partialDeepStrictEqual(await system.state(orderId), { failureCount: 0, nextDueFor: { kind: 'step', path: 'order/one' } });
});
