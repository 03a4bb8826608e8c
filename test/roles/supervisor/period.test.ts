import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { delay, sequence } from 'redress';
import { manualClock } from 'redress/testing';
import { appOf, silence, start, stepMs, submitted } from './support.ts';

const oneStep = appOf((step) => step('one'));

/** The functions that do not run in these tests, so that the supervisor runs alone. */
const others = ['submissions', 'agent-worker', 'scheduler', 'sweeper', 'dead-letter'];

for (const seconds of [60, 300]) {
  test(`F-47: with SUPERVISOR_PERIOD_SECONDS=${seconds} the supervisor passes once in that time`, async (t) => {
    const system = await start(t, oneStep, { variables: { SUPERVISOR_PERIOD_SECONDS: String(seconds) }, without: others });
    const orderId = await submitted(system);
    await system.clock.advance(seconds * 1000 - 1);
    assert.equal((await system.state(orderId)).failureCount, 0);
    await system.clock.advance(1);
    assert.equal((await system.state(orderId)).failureCount, 1);
  });
}

test('F-47: a failed pass does not prevent the next one', async (t) => {
  const system = await start(t, oneStep, { without: others });
  const orderId = await submitted(system);
  const { due } = system.store;
  system.store.due = () => Promise.reject(new Error('throttled'));
  await system.clock.advance(2 * stepMs);
  assert.equal((await system.state(orderId)).failureCount, 0);
  system.store.due = due;
  await system.clock.advance(2000);
  assert.equal((await system.state(orderId)).failureCount, 1);
});

test('F-28, F-47: a host looks for late orders as soon as it starts, not only after its first period', async (t) => {
  const clock = manualClock();
  const dataFolder = mkdtempSync(join(tmpdir(), 'redress-'));
  t.after(() => rmSync(dataFolder, { recursive: true }));
  const first = await start(t, oneStep, { clock, dataFolder, without: [...others, 'supervisor'] });
  const orderId = await submitted(first);
  await clock.advance(stepMs);
  await start(t, oneStep, { clock, dataFolder, variables: { SUPERVISOR_PERIOD_SECONDS: '300' }, without: others });
  await clock.advance(0);
  assert.equal((await first.state(orderId)).failureCount, 1);
});

for (const seconds of [1, 5, 30]) {
  test(`L5: if the supervisor runs every ${seconds} s, a late step is requested again at most ${seconds} s after its deadline`, async (t) => {
    const requestedAt: number[] = [];
    const serve = (_: string, call: { attempt: number; signal: AbortSignal }) => {
      requestedAt.push(system.clock.now());
      return call.attempt === 1 ? silence(call) : {};
    };
    const system = await start(
      t,
      appOf((step) => step('one'), { serve }),
      { variables: { SUPERVISOR_PERIOD_SECONDS: String(seconds) } },
    );
    await system.clock.advance(777);
    await submitted(system);
    await system.clock.advance(stepMs + 32_000);
    const [first = 0, second = Infinity] = requestedAt;
    assert.ok(second - first >= stepMs && second - first <= stepMs + seconds * 1000, `${second - first} ms`);
  });
}

test('F-30: during a wait of one hour no host holds the lease, and another host continues the order', async (t) => {
  const served: string[] = [];
  const serve = (step: string) => {
    served.push(step);
    return {};
  };
  const app = appOf((step) => sequence(step('try'), delay({ seconds: 3600 }), step('again')), { serve });
  const clock = manualClock();
  const dataFolder = mkdtempSync(join(tmpdir(), 'redress-'));
  t.after(() => rmSync(dataFolder, { recursive: true }));

  const one = await start(t, app, { clock, dataFolder, hostId: 'host-one' });
  const orderId = await submitted(one);
  await clock.advance(1000);
  assert.partialDeepStrictEqual(await one.state(orderId), {
    heldBy: null,
    heldUntil: null,
    processState: 'Processing',
    nextDueFor: { kind: 'timer' },
  });
  await one.stop();

  await clock.advance(3_500_000);
  const two = await start(t, app, { clock, dataFolder, hostId: 'host-two' });
  assert.deepEqual(served, ['try']);
  await clock.advance(110_000);
  assert.deepEqual(served, ['try', 'again']);
  assert.partialDeepStrictEqual(await two.state(orderId), { processState: 'Processed', failureCount: 0 });
  assert.ok((await two.state(orderId)).writeIds.some(({ id }) => id.startsWith('host-two:')));
});
