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

/** Replacements for the ports of a process that closes a channel. */
interface Fate {
  readonly publish?: Publisher['publish'];
  readonly putDocument?: Store['putDocument'];
}

/** Lets a process fail five times in a row with the given ports; nothing else runs. */
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
  return { system, alerts, isUnannounced: async () => (await channelState('worker', store))?.unannounced };
}

const alert = ['Channel Closed', 'channel/worker/5'];

test('F-108, L6: when a process crashes between closing a channel and announcing that, a supervisor pass announces it, once', async (t) => {
  const { system, alerts, isUnannounced } = await closedBy(t, () => ({ publish: async () => killed() }));
  assert.deepEqual([alerts(), await isUnannounced()], [[], true]);
  await system.clock.advance(outboxMs);
  await Promise.all([supervisorOf(system).pass(), supervisorOf(system).pass()]);
  for (let pass = 1; pass <= 3; pass++) await supervisorOf(system).pass();
  assert.deepEqual([alerts(), await isUnannounced()], [[alert], false]);
});

test('F-108: when a process crashes between announcing a closing and recording that, the announcement is repeated under the same id', async (t) => {
  const tries: string[] = [];
  const { system, alerts, isUnannounced } = await closedBy(t, ({ store, publisher }) => ({
    publish: async (announcements) => {
      tries.push(...announcements.map(({ id }) => id));
      return publisher.publish(announcements);
    },
    putDocument: (...write) => (tries.length > 0 ? killed() : store.putDocument(...write)),
  }));
  assert.deepEqual([tries, await isUnannounced()], [['channel/worker/5'], true]);
  await system.clock.advance(outboxMs);
  const publish: Publisher['publish'] = (announcements) => {
    tries.push(...announcements.map(({ id }) => id));
    return system.publisher.publish(announcements);
  };
  await supervisorOf(system, { publisher: { publish } }).pass();
  assert.deepEqual([tries, alerts(), await isUnannounced()], [['channel/worker/5', 'channel/worker/5'], [alert], false]);
});

test('F-108: a process that does not crash announces its closing of a channel itself, and no supervisor announces that, then or later', async (t) => {
  let passes = 0;
  let announced = 0;
  const passOf = (system: TestSystem) => {
    const publish: Publisher['publish'] = async () => ({ failed: [`${++announced}`] });
    passes += 1;
    return supervisorOf(system, { publisher: { publish } }).pass();
  };
  const { system, alerts, isUnannounced } = await closedBy(t, (on) => ({
    publish: async (announcements) => {
      await passOf(on);
      return on.publisher.publish(announcements);
    },
  }));
  assert.deepEqual([alerts(), await isUnannounced()], [[alert], false]);
  await system.clock.advance(outboxMs);
  await passOf(system);
  assert.deepEqual([passes, announced], [2, 0]);
});

test('F-108: when the event bus fails, the pass still handles its orders, and the closing is announced after the bus is back', async (t) => {
  const { system, alerts, isUnannounced } = await closedBy(t, () => ({ publish: async (all) => ({ failed: all.map(({ id }) => id) }) }));
  await system.clock.advance(outboxMs);
  const away: Publisher = { publish: () => Promise.reject(new Error('The bus is away.')) };
  const supervisor = supervisorOf(system, { publisher: away });
  await supervisor.pass();
  assert.deepEqual([supervisor.telemetry.counts()['supervisorPass'], alerts(), await isUnannounced()], [1, [], true]);
  await supervisorOf(system).pass();
  assert.deepEqual([alerts(), await isUnannounced()], [[alert], false]);
});

test('F-108: when an operator has opened or closed the channel, no announcement follows', async (t) => {
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
