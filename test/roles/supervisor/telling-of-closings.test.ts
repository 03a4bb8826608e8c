import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TestSystem } from 'redress/testing';
import type { Publisher } from '#ports/event-bus';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { createChannelHealth } from '#roles/channels/health';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { channelState } from '#roles/channels/state';
import { outboxMs } from '#roles/scheduler/deadlines';
import { appOf, startStill, supervisorOf } from './support.ts';

const oneStep = appOf((step) => step('one'));
const killed = (): never => {
  throw Object.assign(new Error('killed'), { fatal: true });
};

/** What stands between a process that closes a channel and what it calls. */
interface Fate {
  readonly publish?: Publisher['publish'];
  readonly putDocument?: Store['putDocument'];
}

/** A process fails five times in a row, and dies of what the test says; nothing else runs. */
async function closedBy(t: TestContext, fateOf: (system: TestSystem) => Fate) {
  const system = await startStill(t, oneStep);
  const { store, publisher, clock } = system;
  const { publish = publisher.publish, putDocument = store.putDocument } = fateOf(system);
  const telemetry = createTelemetry({ level: 'off' });
  const ports = { documents: { ...store, putDocument }, publisher: { ...publisher, publish }, clock, telemetry };
  const health = createChannelHealth(ports);
  for (let time = 1; time <= 5; time++) await health.failed('worker-requests').catch(() => undefined);
  assert.equal((await channelState('worker', store))?.state, 'closed');
  const alerts = () => publisher.published(0, 100).map(({ id, detailType }) => [detailType, id]);
  return { system, alerts, isUntold: async () => (await channelState('worker', store))?.unannounced };
}

const alert = ['Channel Closed', 'channel/worker/5'];

test('F-108, L6: whoever dies between closing a channel and announcing it is made up for: a pass of the supervisor tells it, once', async (t) => {
  const { system, alerts, isUntold } = await closedBy(t, () => ({ publish: async () => killed() }));
  assert.deepEqual([alerts(), await isUntold()], [[], true]);
  await system.clock.advance(outboxMs);
  await Promise.all([supervisorOf(system).pass(), supervisorOf(system).pass()]);
  for (let pass = 1; pass <= 3; pass++) await supervisorOf(system).pass();
  assert.deepEqual([alerts(), await isUntold()], [[alert], false]);
});

test('F-108: whoever dies between announcing it and noting that is repeated under the same id, so that it is heard once', async (t) => {
  const tries: string[] = [];
  const { system, alerts, isUntold } = await closedBy(t, ({ store, publisher }) => ({
    publish: async (announcements) => {
      tries.push(...announcements.map(({ id }) => id));
      return publisher.publish(announcements);
    },
    putDocument: (...write) => (tries.length > 0 ? killed() : store.putDocument(...write)),
  }));
  assert.deepEqual([tries, await isUntold()], [['channel/worker/5'], true]);
  await system.clock.advance(outboxMs);
  const publish: Publisher['publish'] = (announcements) => {
    tries.push(...announcements.map(({ id }) => id));
    return system.publisher.publish(announcements);
  };
  await supervisorOf(system, { publisher: { publish } }).pass();
  assert.deepEqual([tries, alerts(), await isUntold()], [['channel/worker/5', 'channel/worker/5'], [alert], false]);
});

test('F-108: one who lives tells it himself: no supervisor tells it meanwhile, nor afterwards', async (t) => {
  let passes = 0;
  let told = 0;
  const passOf = (system: TestSystem) => {
    const publish: Publisher['publish'] = async () => ({ failed: [`${++told}`] });
    passes += 1;
    return supervisorOf(system, { publisher: { publish } }).pass();
  };
  const { system, alerts, isUntold } = await closedBy(t, (on) => ({
    publish: async (announcements) => {
      await passOf(on);
      return on.publisher.publish(announcements);
    },
  }));
  assert.deepEqual([alerts(), await isUntold()], [[alert], false]);
  await system.clock.advance(outboxMs);
  await passOf(system);
  assert.deepEqual([passes, told], [2, 0]);
});

test('F-108: a bus that takes nothing keeps no pass from its orders, and the closing is told once it takes something again', async (t) => {
  const { system, alerts, isUntold } = await closedBy(t, () => ({ publish: async (all) => ({ failed: all.map(({ id }) => id) }) }));
  await system.clock.advance(outboxMs);
  const away: Publisher = { publish: () => Promise.reject(new Error('The bus is away.')) };
  const supervisor = supervisorOf(system, { publisher: away });
  await supervisor.pass();
  assert.deepEqual([supervisor.telemetry.counts()['supervisorPass'], alerts(), await isUntold()], [1, [], true]);
  await supervisorOf(system).pass();
  assert.deepEqual([alerts(), await isUntold()], [[alert], false]);
});

test('F-108: a person who has opened or closed the channel himself is not told of it', async (t) => {
  const { system, alerts } = await closedBy(t, () => ({ publish: async () => killed() }));
  const change = { by: 'olga', reason: 'mended', now: system.clock.now() };
  await openChannel('worker', { ...change, canary: false }, system.store);
  await system.clock.advance(outboxMs);
  await supervisorOf(system).pass();
  await closeChannel('worker', 'worker-requests', { ...change, now: system.clock.now() }, system.store);
  await system.clock.advance(outboxMs);
  await supervisorOf(system).pass();
  assert.deepEqual(alerts(), []);
});
