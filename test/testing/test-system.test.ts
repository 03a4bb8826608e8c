import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askOperator, defineAgent, defineApp, defineWorkflow, delay, fault, operation, sequence, waitFor } from 'redress';
import { given, manualClock, rehearse, startSystem } from 'redress/testing';
import * as z from 'zod';

const Nothing = z.object({});
const shop = defineAgent('shop', {
  pack: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  ship: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
});
const parcel = defineWorkflow('parcel', { version: 1, order: Nothing }, () => sequence(shop.pack({}), shop.ship({})));

test('F-58: the stop of a system takes the same virtual time whatever its queues contain', async () => {
  const stops: number[] = [];
  for (let run = 0; run < 3; run++) {
    const clock = manualClock();
    const system = await startSystem(defineApp({ workflows: [parcel], agents: [shop] }), { clock, variables: { CLAIM_ON_SUBMIT: 'off' } });
    await system.submit({});
    const sentAt = new Date(clock.now()).toISOString();
    await system.queues.send([{ queue: 'wake-ups', body: JSON.stringify({ v: 1, type: 'wake-up', orderId: 'x', sentAt }), delayMs: 10 }]);
    await clock.advance(20);
    const before = clock.now();
    await system.stop();
    stops.push(clock.now() - before);
  }
  assert.deepEqual(new Set(stops).size, 1, `it took ${stops.join(', ')} ms`);
  assert.ok((stops[0] ?? 0) < 1000, `it took ${stops[0]} ms`);
});

const day = 86_400_000;
const rightOrNot = askOperator('right', { question: 'Is it right?', answer: z.object({ yes: z.boolean() }) });
const patient = defineWorkflow('patient', { version: 1, order: Nothing }, () =>
  sequence(shop.pack({}), waitFor('paid', z.object({})), rightOrNot, delay({ seconds: (30 * day) / 1000 }), shop.ship({})),
);
const app = defineApp({ workflows: [patient], agents: [shop] });

test('F-58: a test signals, answers, suspends and reads the history, and a month passes in jumps from one deadline to the next', async (context) => {
  const system = await startSystem(app);
  context.after(() => system.stop());
  const { order } = (await system.submit({})) as { readonly order: { readonly orderId: string } };
  const { orderId } = order;
  await system.passTime(10_000);
  assert.equal((await system.signal(orderId, 'paid', {})).outcome, 'done');
  assert.equal((await system.state(orderId)).processState, 'Error');
  assert.equal((await system.answer(orderId, { yes: true })).outcome, 'done');
  assert.equal((await system.instruct(orderId, { kind: 'suspend' })).outcome, 'done');
  assert.equal((await system.instruct(orderId, { kind: 'resume' })).outcome, 'done');
  await system.passTime(29 * day);
  assert.equal((await system.state(orderId)).processState, 'Processing');
  await system.passTime(2 * day);
  assert.equal((await system.state(orderId)).outcome, 'completed');
  const kinds = (await system.history(orderId)).map(({ type }) => type);
  for (const kind of ['SignalReceived', 'OrderBlocked', 'InstructionGiven', 'OrderUnblocked'])
    assert.ok(kinds.includes(kind as never), kind);
});

test('F-145: the reminders of a task come at their times while a test lets time pass', async (context) => {
  const system = await startSystem(app, { variables: { TASK_DUE_SECONDS: '3600', TASK_REMINDER_SECONDS: '600' } });
  context.after(() => system.stop());
  const { order } = (await system.submit({})) as { readonly order: { readonly orderId: string } };
  await system.passTime(10_000);
  await system.signal(order.orderId, 'paid', {});
  await system.passTime(day);
  const announced = system.publisher.published(0, 100).filter(({ detailType }) => detailType === 'Task Reminder');
  const since = (at: number) => Math.round((at - Date.parse(String(announced[0]?.detail['dueAt']))) / 60_000);
  const minutes = announced.map(({ detail }) => since(Date.parse(String(detail['at']))));
  assert.deepEqual(minutes, [0, 10, 30, 70, 150, 310, 630, 1270]);
});

test('F-58: a test cancels an order as its client does', async (context) => {
  const system = await startSystem(app);
  context.after(() => system.stop());
  const { order } = (await system.submit({})) as { readonly order: { readonly orderId: string } };
  await system.passTime(10_000);
  assert.equal((await system.cancel(order.orderId)).outcome, 'done');
  await system.passTime(10_000);
  assert.equal((await system.state(order.orderId)).outcome, 'canceled');
});

test('F-58: a stub can give a fault its data, and can fail with a fault that no operation declares', () => {
  const Late = fault('Late');
  const post = defineAgent('post', { send: operation({ input: Nothing, output: Nothing, faults: [Late], run: () => ({}) }) });
  const sent = defineWorkflow('sent', { version: 1, order: Nothing, toOperator: [Late] }, () => sequence(post.send({})));
  assert.deepEqual(rehearse(sent, {}, given(post.send).faults(Late, 'It is late.', { byDays: 2 })).fault?.data, { byDays: 2 });
  const { outcome, fault: unforeseen } = rehearse(sent, {}, given(post.send).fails('NotConfigured'));
  assert.deepEqual([outcome, unforeseen?.type, unforeseen?.class], ['blocked', 'NotConfigured', 'unexpected']);
});

test('F-58: an order completes in a test of the whole system, as docs/guides/testing.md shows', async () => {
  const month = (30 * day) / 1000 - 60;
  const sold = defineWorkflow('sold', { version: 1, order: z.object({ sku: z.string() }) }, () =>
    sequence(shop.pack({}), waitFor('paid', z.object({ amount: z.number() })), delay({ seconds: month }), shop.ship({})),
  );
  const app = defineApp({ workflows: [sold], agents: [shop] });

  const system = await startSystem(app);
  const submitted = await system.submit({ sku: 'tea' });
  assert.ok(submitted.outcome === 'accepted');
  const { orderId } = submitted.order;
  await system.passTime(10_000);
  await system.signal(orderId, 'paid', { amount: 40 });
  await system.passTime(30 * 86_400_000);
  assert.equal((await system.state(orderId)).outcome, 'completed');
  await system.stop();
});

test('F-58: a test submits over HTTP and kills the process, as docs/guides/testing.md shows, and the order completes', async (context) => {
  const sold = defineWorkflow('sold', { version: 1, order: z.object({ sku: z.string() }) }, () => sequence(shop.pack({}), shop.ship({})));
  const system = await startSystem(defineApp({ workflows: [sold], agents: [shop] }));
  context.after(() => system.stop());

  const token = await system.token({ role: 'client', client: 'acme' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'key-1' };
  const response = await system.fetch('/orders', { method: 'POST', headers, body: JSON.stringify({ order: { sku: 'tea' } }) });
  assert.equal(response.status, 202);
  const { orderId } = (await response.json()) as { readonly orderId: string };

  system.kill();
  await system.start();
  await system.passTime(60_000);
  assert.equal((await system.state(orderId)).outcome, 'completed');
});
