import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, delay, operation, parallel } from 'redress';
import type { TestSystem } from 'redress/testing';
import * as z from 'zod';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { createOutages } from '#roles/supervisor/outages';
import { appOf, journalOf, requestedSteps, startStill, stepMs, submitted, supervisorOf, takeWakeUps, wake } from './support.ts';

const oneStep = appOf((step) => step('one'));

/** An order whose step is never answered, because the channel of its agent is closed from the start. */
async function behind(t: TestContext, app = oneStep, channel = 'worker', maxFailures = '0') {
  const system = await startStill(t, app, { variables: { MAX_FAILURES: maxFailures } });
  const { store, clock } = system;
  const orderId = await submitted(system);
  const closedAt = clock.now();
  const change = () => ({ by: 'olga', reason: 'the bank moves', now: clock.now() });
  const queue = ['worker', 'bank'].includes(channel) ? `${channel}-requests` : channel;
  const close = () => closeChannel(channel, queue, change(), store);
  assert.equal((await close()).outcome, 'changed');
  return { system, orderId, closedAt, close, open: () => openChannel(channel, { ...change(), canary: false }, store) };
}

async function passes(system: TestSystem, count: number): Promise<void> {
  for (let pass = 1; pass <= count; pass++) {
    await system.clock.advance(stepMs);
    await supervisorOf(system).pass();
  }
}

test('F-108: a step behind a closed channel is not late: its deadline moves, no failure counts, no wake-up is sent', async (t) => {
  const { system, orderId, closedAt } = await behind(t);
  await passes(system, 1);
  const { notes, ...state } = await system.state(orderId);
  assert.partialDeepStrictEqual(state, {
    processState: 'Processing',
    failureCount: 0,
    nextDueAt: system.clock.now() + stepMs,
    nextDueFor: { kind: 'step', path: 'order/one', waitingSince: closedAt },
  });
  assert.partialDeepStrictEqual(notes, [{ type: 'DeadlineMoved', path: 'order/one', reason: 'the channel worker is closed' }]);
  assert.deepEqual(system.messages('wake-ups'), []);
});

test('F-108: an order waits for days behind a closed channel, is written ever less often, and is then requested once more', async (t) => {
  const { system, orderId, open } = await behind(t);
  const { rev } = await system.state(orderId);
  await passes(system, 200);
  await system.clock.advance(3 * 86_400_000);
  await supervisorOf(system).pass();
  const waited = await system.state(orderId);
  assert.ok(waited.rev - rev <= 22, `${waited.rev - rev} writes`);
  await open();
  await system.clock.advance(3 * 86_400_000);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  assert.deepEqual(requestedSteps(system), ['one#1', 'one#2']);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 0 });
  assert.equal((await journalOf(system, orderId)).filter(({ type }) => type === 'DeadlineMoved').length, 1);
});

test('F-108: when the channel opens, the order that waited longest goes first', async (t) => {
  const { system, orderId, open } = await behind(t);
  await passes(system, 3);
  const later = await submitted(system);
  await passes(system, 3);
  await open();
  await system.clock.advance(15_000);
  await supervisorOf(system).pass();
  const [first, second] = await Promise.all([orderId, later].map((id) => system.state(id)));
  assert.deepEqual([first?.nextDueFor?.kind, second?.nextDueFor?.kind], ['request', 'step']);
  assert.ok((second?.nextDueAt ?? 0) > system.clock.now());
});

test('F-108: when the channel closes again before all orders had their turn, the same outage continues for the rest', async (t) => {
  const { system, orderId, closedAt, close, open } = await behind(t);
  await passes(system, 2);
  await open();
  await system.clock.advance(1000);
  await close();
  await passes(system, 6);
  const { nextDueFor, failureCount } = await system.state(orderId);
  assert.deepEqual([nextDueFor?.waitingSince, failureCount], [closedAt, 0]);
});

test('F-108: an expiry counts again after all waiting orders have had their turn', async (t) => {
  const { system, orderId, open } = await behind(t);
  await passes(system, 6);
  await open();
  await system.clock.advance(60_000);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  await passes(system, 2);
  assert.partialDeepStrictEqual(await system.state(orderId), { failureCount: 1, processState: 'Error' });
});

test('F-108: when the wake-ups are closed, no step of any agent is late, because none can be requested', async (t) => {
  const { system, orderId } = await behind(t, oneStep, 'wake-ups');
  await passes(system, 3);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 0 });
});

test('F-108: the closed channel of another agent changes nothing: the step counts as late', async (t) => {
  const { system, orderId } = await behind(t, oneStep, 'somebody');
  await passes(system, 2);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Error', failureCount: 1 });
});

test('F-108: a pass that was frozen reads the channel states again, so a step behind a channel that was closed meanwhile is not late', async (t) => {
  const system = await startStill(t, oneStep);
  const { store, clock } = system;
  const orderId = await submitted(system);
  const outages = createOutages(store, clock);
  outages.begin();
  assert.equal((await outages.closed()).size, 0);
  await closeChannel('worker', 'worker-requests', { by: 'olga', reason: 'the bank moves', now: clock.now() }, store);
  await clock.advance(stepMs);
  const outage = await outages.before(await system.state(orderId), clock.now(), clock.now());
  assert.equal(outage?.reason, 'the channel worker is closed');
});

test('F-108, F-89: a timer beside a step behind a closed channel ends in time', async (t) => {
  const beside = appOf((step) => parallel(step('one'), delay({ seconds: 3600 })));
  const { system, orderId } = await behind(t, beside);
  const endsAt = system.clock.now() + 3_600_000;
  while (system.clock.now() < endsAt + 2 * stepMs) {
    await passes(system, 1);
    for (const woken of await takeWakeUps(system)) await wake(system, woken);
  }
  const ended = (await journalOf(system, orderId)).find((entry) => entry.type === 'ActivityClosed' && entry.path.includes('delay'));
  assert.ok(ended && ended.at <= endsAt + 2 * stepMs, JSON.stringify(ended));
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 0 });
});

const Nothing = z.object({});
const agentOf = (name: string) => defineAgent(name, { work: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });
const [bank, shop, post] = [agentOf('bank'), agentOf('shop'), agentOf('post')];
const three = defineWorkflow('three', { version: 1, order: Nothing }, () =>
  parallel(bank.work({}).named('pay').noUndo(), shop.work({}).named('ship').noUndo(), post.work({}).named('tell').noUndo()),
);
const threeAgents = defineApp({ workflows: [three], agents: [bank, shop, post] });

test('F-108, F-37: late steps beside a step behind a closed channel are found in time, requested again and counted', async (t) => {
  const { system, orderId, closedAt } = await behind(t, threeAgents, 'bank');
  await passes(system, 1);
  for (let pass = 1; pass <= 6; pass++) {
    for (const woken of await takeWakeUps(system)) await wake(system, woken);
    await passes(system, 1);
  }
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Error',
    fault: { type: 'DeadlineExceeded', source: 'order/ship' },
  });
  const notes = [...(await journalOf(system, orderId)), ...(await system.state(orderId)).notes];
  const counted = notes.filter(({ type }) => type === 'ThresholdExceeded' || type === 'DeadlineExpired');
  assert.deepEqual(
    counted.map((each) => ('path' in each ? each.path : '')),
    ['order/ship'],
  );
  assert.ok(
    counted.every(({ at }) => at <= closedAt + 5 * stepMs),
    JSON.stringify(counted),
  );
});

test('F-108: a step of another agent whose request is lost is requested again while the first channel stays closed', async (t) => {
  const { system, orderId } = await behind(t, threeAgents, 'bank', '3');
  for (let pass = 1; pass <= 6; pass++) {
    for (const woken of await takeWakeUps(system)) await wake(system, woken);
    await passes(system, 1);
  }
  const requested = (await journalOf(system, orderId)).flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []));
  for (const path of ['order/ship', 'order/tell']) assert.ok(requested.indexOf(path) < requested.lastIndexOf(path), `${path} once`);
  const { processState, nextDueFor } = await system.state(orderId);
  assert.deepEqual([processState, Object.keys(nextDueFor?.putOff ?? {})], ['Processing', ['bank']]);
});
