import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLease } from '../../lib/lease.ts';
import { appOf, start, startStill, submitted } from './support.ts';

test('F-23, F-24: a host renews its leases as long as it drains, and gives them back at the end', async (t) => {
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
  const held = await submitted(system);
  await system.host.hold(held, 1000);
  const stopped = system.host.stop();
  for (let second = 0; second < 5; second++) {
    await system.clock.advance(1000);
    const { heldBy, heldUntil } = await system.state(held);
    assert.ok(heldBy !== null && (heldUntil ?? 0) > system.clock.now(), `after ${second + 1} s`);
  }
  await system.clock.advance(3000);
  await stopped;
  assert.partialDeepStrictEqual(await system.state(held), { heldBy: null, heldUntil: null });
  assert.equal((await system.state(orderId)).processState, 'Processed');
});

test('F-27: a lease that is given back while it is being renewed stays given back', async (t) => {
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
