import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueNames } from '#ports/messages';
import { acquireLease } from '#roles/scheduler/lease';
import { appOf, start, startStill, submitted } from './support.ts';

test('F-23, F-24: a host renews its leases while it drains, and releases all of them at the end', async (t) => {
  const serve = async () => {
    await system.clock.sleep(6000);
    return {};
  };
  const system = await start(
    t,
    appOf((step) => step('one'), { serve }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(100);
  const held = [await submitted(system), await submitted(system)];
  for (const each of held) await system.host.hold(each, 1000);
  const stopped = system.host.stop();
  for (let second = 0; second < 5; second++) {
    await system.clock.advance(1000);
    for (const each of held) {
      const { heldBy, heldUntil } = await system.state(each);
      assert.ok(heldBy !== null && (heldUntil ?? 0) > system.clock.now(), `after ${second + 1} s`);
    }
  }
  await system.clock.advance(3000);
  await stopped;
  for (const each of held) assert.partialDeepStrictEqual(await system.state(each), { heldBy: null, heldUntil: null });
  assert.equal((await system.state(orderId)).processState, 'Processed');
});

test('F-27: a lease that is released during its renewal stays released', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one')),
  );
  const orderId = await submitted(system);
  const options = { holder: 'host-one', leaseMs: 1000, clock: system.clock };
  const afterRelease = Promise.withResolvers<void>();
  let reads = 0;
  const head = async (id: string) => {
    const found = await system.store.head(id);
    if (++reads === 2) await afterRelease.promise;
    return found;
  };
  const slow = { ...system.store, head };
  const renewing = (await acquireLease(slow, orderId, options))?.renew();
  await (await acquireLease(system.store, orderId, options))?.release();
  afterRelease.resolve();
  assert.equal(await renewing, false);
  assert.partialDeepStrictEqual(await system.state(orderId), { heldBy: null, heldUntil: null });
});

test('F-23: a host that drains waits until the replies on its queues are applied', async (t) => {
  const system = await start(
    t,
    appOf((step) => step('one')),
  );
  const { receive } = system.queues;
  let mayRead = false;
  system.queues.receive = async (queue, options) => {
    if (queue !== queueNames.replies('worker') || mayRead) return receive(queue, options);
    await system.clock.sleep(100, options.signal);
    return [];
  };
  await system.clock.advance(30_000);
  const orderId = await submitted(system);
  await system.clock.advance(1000);
  assert.equal(system.messages(queueNames.replies('worker')).length, 1);

  const stopped = system.host.stop();
  for (let turn = 0; turn < 8; turn++) await system.clock.advance(500);
  mayRead = true;
  for (let turn = 0; turn < 20; turn++) await system.clock.advance(500);
  await stopped;
  assert.equal((await system.state(orderId)).outcome, 'completed');
});

for (const [policy, waits] of [
  ['NoRetry', false],
  ['BasicRetry', true],
  ['AggressiveRetry', true],
] as const) {
  test(`F-16, F-17, F-18, F-19, F-20: a host that acquires a lease follows INSTANCE_LOCKED_ACTION: ${policy}`, async (t) => {
    const app = appOf((step) => step('one'));
    const system = await startStill(t, app, { variables: { INSTANCE_LOCKED_ACTION: policy } });
    const orderId = await submitted(system);
    await acquireLease(system.store, orderId, { holder: 'other', leaseMs: 1200, clock: system.clock });
    const taken = system.host.hold(orderId, 60_000).then(
      (lease) => lease?.orderId,
      (error: Error) => error.name,
    );
    await system.clock.advance(0);
    for (let turn = 0; turn < 10; turn++) await system.clock.advance(500);
    assert.equal(await taken, waits ? orderId : 'InstanceLockedError');
  });
}

for (const [leasedSeconds, advice] of [
  [70, ['Leases last about 70 s: set INSTANCE_LOCKED_ACTION=NoRetry instead of BasicRetry.']],
  [10, []],
] as const) {
  test(`F-21: with BasicRetry a host that held an instance for ${leasedSeconds} s gets ${advice.length === 0 ? 'no ' : ''}advice`, async (t) => {
    const app = appOf((step) => step('one'));
    const system = await startStill(t, app, { variables: { INSTANCE_LOCKED_ACTION: 'BasicRetry' } });
    const orderId = await submitted(system);
    const warned: string[] = [];
    t.mock.method(system.telemetry, 'log', (level: string, message: string) => {
      if (level === 'warn') warned.push(message);
    });
    const lease = await system.host.hold(orderId, 120_000);
    await system.clock.advance(leasedSeconds * 1000);
    await lease?.release();
    assert.deepEqual(warned, advice);
  });
}
