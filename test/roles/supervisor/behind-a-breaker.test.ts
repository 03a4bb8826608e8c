import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestSystem } from 'redress/testing';
import type { Breaker } from '#ports/circuit-breaker';
import { appOf, requestedSteps, startStill, stepMs, submitted, supervisorOf, wake } from './support.ts';

const oneStep = appOf((step) => step('one'));

/** An order whose step is never answered, because the service of its agent is away from the start. */
async function behind(t: TestContext, app = oneStep) {
  const system = await startStill(t, app, { variables: { MAX_FAILURES: '0' } });
  const orderId = await submitted(system);
  const openedAt = system.clock.now();
  const breaker: Breaker = { agent: 'worker', rev: 1, openedAt, probeAt: openedAt + 3_600_000, failedProbes: 0, closedAt: null };
  await system.store.putBreaker(breaker, 0);
  const close = async (): Promise<Breaker> => {
    const closed = { ...breaker, rev: 2, closedAt: system.clock.now() };
    await system.store.putBreaker(closed, 1);
    return closed;
  };
  return { system, orderId, openedAt, close };
}

async function passes(system: TestSystem, count: number): Promise<void> {
  for (let pass = 1; pass <= count; pass++) {
    await system.clock.advance(stepMs);
    await supervisorOf(system).pass();
  }
}

test('X-45: a step behind an open breaker is not late: its deadline moves, no failure counts, no wake-up is sent', async (t) => {
  const { system, orderId, openedAt } = await behind(t);
  await passes(system, 1);
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Processing',
    failureCount: 0,
    nextDueAt: system.clock.now() + stepMs,
    nextDueFor: { kind: 'step', path: 'order/one', waitingSince: openedAt },
  });
  assert.deepEqual(system.messages('wake-ups'), []);
});

test('X-45: the longer an outage lasts, the less often the order is written, and its note is written once', async (t) => {
  const { system, orderId } = await behind(t);
  const { rev } = await system.state(orderId);
  await passes(system, 60);
  const state = await system.state(orderId);
  assert.deepEqual(
    state.notes.map(({ type }) => type),
    ['DeadlineMoved'],
  );
  assert.ok(state.rev - rev >= 6 && state.rev - rev <= 16, `${state.rev - rev} writes`);
});

test('X-45: an order whose workflow says `recover: order` is not reset while the circuit breaker of its service is open, and no failure is counted', async (t) => {
  const { system, orderId } = await behind(
    t,
    appOf((step) => step('one'), { recover: 'order' }),
  );
  await passes(system, 3);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', epoch: 1, failureCount: 0 });
});

test('X-45: when a probe is due, one waiting step is requested again, and only one per pass', async (t) => {
  const { system, orderId } = await behind(t);
  const other = await submitted(system);
  await system.clock.advance(3_600_000);
  await supervisorOf(system).pass();
  const kinds = await Promise.all([orderId, other].map(async (id) => (await system.state(id)).nextDueFor?.kind));
  assert.deepEqual(kinds.toSorted(), ['request', 'step']);
});

test('X-45: when the service is back, the order that waited longest goes first, under the same key, and no failure counts', async (t) => {
  const { system, orderId, close } = await behind(t);
  await passes(system, 3);
  const later = await submitted(system);
  await passes(system, 3);
  await close();
  await system.clock.advance(15_000);
  await supervisorOf(system).pass();
  const [first, second] = await Promise.all([orderId, later].map((id) => system.state(id)));
  assert.deepEqual([first?.nextDueFor?.kind, second?.nextDueFor?.kind], ['request', 'step']);
  assert.ok((second?.nextDueAt ?? 0) > system.clock.now());

  await wake(system, orderId);
  assert.deepEqual(requestedSteps(system), ['one#1', 'one#1', 'one#2']);
  assert.equal((await system.state(orderId)).failureCount, 0);
});

test('X-45: an expiry counts again after all waiting orders have had their turn', async (t) => {
  const { system, orderId, close } = await behind(t);
  await passes(system, 6);
  await close();
  await system.clock.advance(60_000);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  assert.equal((await system.state(orderId)).failureCount, 0);
  await passes(system, 2);
  assert.partialDeepStrictEqual(await system.state(orderId), { failureCount: 1, processState: 'Error' });
});
