import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { TransientFailure } from 'redress';
import type { TestSystem } from 'redress/testing';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { queueNames } from '#ports/messages';
import { createTelemetry } from '#ports/telemetry';
import { CircuitGuard } from '#roles/agent/circuit-guard';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { lineOf, reaches, started, submitted } from './support.ts';

/** An agent that is at work on a slow order, and notes how many calls of its service run at once. */
async function atWork(context: TestContext, slow: (system: TestSystem, tried: number) => Promise<void>) {
  const calls = { now: 0, most: 0 };
  let tried = 0;
  const one = async ({ item }: { readonly item: string }): Promise<object> => {
    calls.most = Math.max(calls.most, ++calls.now);
    try {
      await (item === 'slow' ? slow(system, ++tried) : system.clock.sleep(500));
    } finally {
      calls.now -= 1;
    }
    return {};
  };
  const system = await started(context, lineOf({ one }, { operation: { completeWithinSeconds: 60 } }));
  const first = await submitted(system, { item: 'slow' });
  await system.clock.advance(1_000);
  const change = () => ({ by: 'olga', reason: 'mended?', now: system.clock.now() });
  await closeChannel('worker', queueNames.requests('worker'), change(), system.store);
  await system.clock.advance(1_500);
  const orders = await Promise.all(Array.from({ length: 6 }, () => submitted(system)));
  const opened = () => openChannel('worker', { ...change(), canary: true }, system.store);
  /** Returns how many calls ran at once until the canary was answered. All orders then complete. */
  const mostBeforeAnswer = async (): Promise<number> => {
    for (let look = 0; look < 400 && (await system.store.breaker('worker'))?.closedAt === null; look++) await system.clock.advance(100);
    const { most } = calls;
    for (const orderId of [first, ...orders]) await reaches(system, orderId, 'Processed', { withinMs: 900_000 });
    return most;
  };
  return { system, opened, mostBeforeAnswer };
}

describe('an agent whose channel is opened with a canary', () => {
  test('F-108: serves one request first, also in a process that still served an earlier request after the channel was closed', async (t) => {
    const { opened, mostBeforeAnswer } = await atWork(t, (system) => system.clock.sleep(9_000));
    await opened();
    assert.equal(await mostBeforeAnswer(), 1);
  });

  test('F-108: serves one request first, also in a process that has read the circuit breaker for an earlier request while the channel was closed', async (t) => {
    const { system, opened, mostBeforeAnswer } = await atWork(t, async (_, tried) => {
      if (tried === 1) throw new TransientFailure('Busy.', { retryAfterMs: 12_000 });
    });
    await system.clock.advance(10_000);
    await opened();
    assert.equal(await mostBeforeAnswer(), 1);
  });

  test('F-108: serves another request after a pause if the process that served the first one has crashed', async (t) => {
    const clock = manualClock();
    const { store, database } = openEmbedded(':memory:', { clock });
    t.after(() => database.close());
    const change = () => ({ by: 'olga', reason: 'mended?', now: clock.now() });
    await closeChannel('worker', queueNames.requests('worker'), change(), store);
    await clock.advance(60_000);
    await openChannel('worker', { ...change(), canary: true }, store);
    const options = { breakers: store, clock, telemetry: createTelemetry({ level: 'off' }), random: () => 0.5 };
    const [dying, other] = [new CircuitGuard('worker', options), new CircuitGuard('worker', options)];
    const permitOf = (guard: CircuitGuard) => guard.acquirePermit({ orderId: 'any', client: 'acme' }, { repeated: false });
    assert.equal((await permitOf(dying))?.isProbe, true);
    assert.equal(await permitOf(other), undefined);
    await clock.advance(9_000);
    assert.equal(await permitOf(other), undefined, 'the canary may still be at work');
    await clock.advance(1_000);
    const next = await permitOf(other);
    assert.equal(next?.isProbe, true);
    await next?.answered();
    assert.notEqual((await store.breaker('worker'))?.closedAt, null);
  });
});
