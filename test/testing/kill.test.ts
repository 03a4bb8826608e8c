import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence, waitFor } from 'redress';
import { manualClock, startSystem, type TestSystem, type TestSystemOptions } from 'redress/testing';
import * as z from 'zod';
import { registerClient } from '#testing/world/register-client';
import { temporaryFolder } from '../support/folders.ts';

const Nothing = z.object({});

/** A system whose agent does what the test says, and its effects by key. */
async function withAgent(
  context: TestContext,
  { work = () => {}, ...options }: TestSystemOptions & { work?: (name: string, system: TestSystem) => void | Promise<void> } = {},
) {
  const keys: string[] = [];
  let system: TestSystem;
  const does = (name: string) =>
    operation({
      input: Nothing,
      output: Nothing,
      async run(_, call) {
        keys.push(call.idempotencyKey);
        await work(name, system);
        return {};
      },
    });
  const shop = defineAgent('shop', { pack: does('pack'), weigh: does('weigh'), ship: does('ship') });
  const parcel = defineWorkflow('parcel', { version: 1, order: Nothing }, () =>
    sequence(parallel(shop.pack({}), shop.weigh({})), shop.ship({})),
  );
  const notified = defineWorkflow('told', { version: 1, order: Nothing }, () => sequence(waitFor('go', Nothing), shop.ship({})));
  system = await startSystem(defineApp({ workflows: [parcel, notified], agents: [shop] }), options);
  context.after(() => system.stop());
  return { system, keys };
}

async function submitted(system: TestSystem, workflow = 'parcel'): Promise<string> {
  const answer = await system.submit({}, { workflow });
  assert.ok(answer.outcome === 'accepted');
  return answer.order.orderId;
}

/** Rows that were written since the database was opened. */
const writes = ({ database }: TestSystem): unknown => database.prepare('SELECT total_changes() AS changes').get();

async function comesToItsEnd(system: TestSystem, orderId: string): Promise<void> {
  await system.passTime(300_000);
  assert.equal((await system.state(orderId)).outcome, 'completed');
}

test('F-28, F-58: wherever the process is killed, the next one brings the order to its end', async (context) => {
  const seen = new Set<string>();
  for (let turns = 0; turns < 24; turns++) {
    const { system, keys } = await withAgent(context, { writesAndSendsAtomically: turns % 2 === 0 });
    const orderId = await submitted(system);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    seen.add(`${keys.length} begun at rev ${(await system.state(orderId)).rev}`);
    system.kill();
    const before = [writes(system), keys.length];
    await system.passTime(10_000);
    assert.deepEqual([writes(system), keys.length], before, 'no work of the killed process continues');
    await system.start();
    await comesToItsEnd(system, orderId);
    assert.equal(new Set(keys).size, 3, 'each step has one key, whichever process requests it');
    await system.stop();
  }
  assert.ok(seen.size > 4, `it was killed at ${[...seen].join(', ')}`);
});

for (const where of ['in memory', 'on disk'] as const)
  test(`F-58: a killed process neither writes nor sends its unfinished work, ${where}`, async (context) => {
    const at = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const folder = temporaryFolder();
    context.after(() => folder.remove());
    const { system, keys } = await withAgent(context, {
      ...(where === 'on disk' ? { dataFolder: folder.path } : {}),
      work: (name) => {
        if (name !== 'pack') return undefined;
        at.resolve();
        return goesOn.promise;
      },
    });
    const orderId = await submitted(system);
    await at.promise;
    await system.queues.send([{ queue: 'wake-ups', body: JSON.stringify({ v: 1, type: 'wake-up', orderId, sentAt: '2026-01-01' }) }]);
    const submitting = system.submit({});
    system.kill();
    await assert.rejects(submitting, /killed before it answered/);
    const before = writes(system);
    goesOn.resolve();
    await system.passTime(600_000);
    assert.deepEqual(writes(system), before);

    await system.start();
    await comesToItsEnd(system, orderId);
    assert.equal(keys.filter((key) => key.includes('/pack/')).length, 2, 'it was running, and is requested again under its key');
  });

test('F-58: an operation that kills its process loses its first reply, and is called again under its key', async (context) => {
  let kills = 1;
  const { system, keys } = await withAgent(context, {
    work: (name, running) => {
      if (name === 'ship' && kills-- > 0) running.kill();
    },
  });
  const orderId = await submitted(system, 'told');
  await system.passTime(1000);
  await system.signal(orderId, 'go', {});
  await system.passTime(60_000);
  assert.deepEqual(system.messages('shop-replies'), []);
  await assert.rejects(system.cancel(orderId), /No process runs: .* Call start\(\)/);
  await system.start();
  await comesToItsEnd(system, orderId);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
});

test('F-58: messages that are sent while no process runs are handled by the next one', async (context) => {
  const { system } = await withAgent(context);
  await registerClient(system.store, { id: 'test', senders: ['local'], responseChannels: [] });
  const orderId = await submitted(system, 'told');
  await system.passTime(1000);
  system.kill();
  const body = JSON.stringify({ v: 1, type: 'submission', client: 'test', idempotencyKey: 'posted', workflow: 'parcel', order: {} });
  await system.queues.send([{ queue: 'submissions', body }]);
  await system.start();
  await system.signal(orderId, 'go', {});
  await system.passTime(60_000);
  const { items } = await system.store.list({}, undefined, 10);
  assert.deepEqual(
    items.map(({ state }) => state.processState),
    ['Processed', 'Processed'],
  );
});

test('F-58: services and listeners of a killed process get no events, and those of the next process are started', async (context) => {
  const notified: string[] = [];
  const clock = manualClock();
  const clerk = { name: 'clerk', start: () => void notified.push('start'), stop: () => void notified.push('stop') };
  const { system } = await withAgent(context, { clock, services: [clerk] });
  system.kill();
  await system.start();
  await system.stop();
  assert.deepEqual(notified, ['start', 'start', 'stop']);
});

test('F-58: a running test system refuses start(), and a stopped test system refuses start() and kill()', async (context) => {
  const { system } = await withAgent(context);
  await assert.rejects(system.start(), /it is running\. Call kill\(\) first\./);
  system.kill();
  await system.stop();
  await assert.rejects(system.start(), /was stopped, and its data is closed/);
  assert.throws(() => system.kill(), /was stopped/);
});
