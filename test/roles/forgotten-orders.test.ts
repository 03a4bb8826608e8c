import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { call, defineAgent, defineApp, defineWorkflow, operation, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { childIdOf } from '#roles/submission/submission';
import { idsOf, put } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { countIn, type Desk, failed, lineOf, ok, openDesk, started, stepsNamed, submitted, typesOf } from './support.ts';

const dayMs = 86_400_000;
const mine = { client: 'acme', key: 'daily restock' };

/** Advances the clock past the retention time of the orders that are finished by now, and forgets them. */
async function forgetAfter(desk: Desk, days: number): Promise<number> {
  await desk.clock.advance((days + 1) * dayMs);
  return desk.store.forget(desk.clock.now() - days * dayMs, 100);
}

const decide = async (desk: Desk, orderId: string, kind: 'terminate' | 'cancel' | 'suspend' | 'resume') =>
  desk.system.scheduler.instruct(
    orderId,
    { kind, by: 'olga', reason: 'a test' },
    { id: `${kind}-1`, ifMatch: (await desk.state(orderId)).rev },
  );

describe('a key that is submitted again after its order was forgotten', () => {
  const line = lineOf(stepsNamed('charge'));

  test('F-59, S17: the new order has a separate alert, although it is in Error for the same reason as the first one', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk, { item: 'tea' }, mine);
    await desk.answer(await desk.request(), failed('Broken'));
    const [first] = desk.announced();
    await decide(desk, orderId, 'terminate');
    assert.equal(await forgetAfter(desk, 30), 1);
    assert.deepEqual(desk.announced(), [], 'forgotten with their order');

    assert.equal(await submitted(desk, { item: 'tea' }, mine), orderId);
    await desk.answer(await desk.request(), failed('Broken'));
    assert.deepEqual(typesOf(desk.announced()), ['Order In Error', 'Workflow Terminated']);
    assert.notEqual(desk.announced()[0]?.id, first?.id, 'a subscriber drops repeated announcements');
  });

  for (const [how, variables] of [
    ['the store has forgotten orders', {}],
    ['orders will be forgotten', { RETENTION_DAYS: '30' }],
  ] as const)
    test(`F-44, S7: the new order has new effects, because services keep keys longer than orders are kept (${how})`, async (context) => {
      const desk = openDesk(context, line, { variables });
      await submitted(desk, { item: 'tea' }, mine);
      const first = await desk.request();
      await desk.answer(first);
      assert.equal(await forgetAfter(desk, 30), 1);
      await submitted(desk, { item: 'gold' }, mine);
      const again = await desk.request();
      assert.deepEqual([again.orderId, again.path], [first.orderId, first.path]);
      assert.notEqual(again.idempotencyKey, first.idempotencyKey);
      await desk.answer(first, ok(), { sentAt: desk.clock.now() });
      assert.equal((await desk.state(first.orderId)).processState, 'Processing', 'a reply to the first order does not count for it');
    });

  test('F-44: the idempotency key of an effect stays the same over its attempts, and that of an undo names the undone effect', async (context) => {
    const desk = openDesk(context, undoable, { variables: { RETENTION_DAYS: '30' } });
    const orderId = await submitted(desk);
    const first = await desk.request();
    await desk.clock.advance(20_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const second = await desk.request();
    assert.deepEqual([second.attempt, second.idempotencyKey], [2, first.idempotencyKey]);
    await desk.answer(second, ok({ id: 'ch_1' }));
    await decide(desk, orderId, 'cancel');
    const undo = await desk.request();
    const generation = first.idempotencyKey.slice(first.idempotencyKey.lastIndexOf('/') + 1);
    assert.ok(Number(generation) > 1);
    assert.equal(undo.idempotencyKey, `${orderId}/order/whole/undo/${generation}`);
  });

  test('F-10: while an order is kept, the same submission returns the same order and the same answer', async (context) => {
    const desk = openDesk(context, line, { variables: { RETENTION_DAYS: '30' } });
    const first = await desk.submit({ item: 'tea' }, mine);
    await desk.answer(await desk.request());
    await desk.clock.advance(29 * dayMs);
    assert.equal(await desk.store.forget(desk.clock.now() - 30 * dayMs, 100), 0);
    assert.deepEqual(await desk.submit({ item: 'tea' }, mine), { ...first, replayed: true });
    assert.deepEqual(await desk.requests(), []);
  });

  test('F-44: when orders are never forgotten, the first effect of a step has generation 1', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    assert.equal((await desk.request()).idempotencyKey, `${orderId}/order/charge/1`);
  });
});

const bank = defineAgent('worker', {
  charge: operation({ input: z.object({}), output: z.object({ id: z.string() }), run: async () => ({ id: 'c' }) }),
  refund: operation({ input: z.object({}), output: z.unknown(), run: async () => ({}) }),
});

const undoable = defineApp({
  workflows: [
    defineWorkflow('undoable', { version: 1, order: z.object({ item: z.string() }) }, () =>
      sequence(sequence(bank.charge({})).named('whole').undo(bank.refund({})), waitFor('go', z.object({}))),
    ),
  ],
  agents: [bank],
});

describe('a called order is kept as long as its caller', () => {
  const child = defineWorkflow('pay', { version: 1, order: z.object({}) }, () => sequence(bank.charge({}).undo(() => bank.refund({}))));
  const parent = defineWorkflow('trip', { version: 1, order: z.object({}) }, () => sequence(call(child, {}), waitFor('go', z.object({}))));
  const app = defineApp({ workflows: [parent, child], agents: [bank] });

  async function paid(context: TestContext) {
    const desk = openDesk(context, app, { variables: { RETENTION_DAYS: '7' } });
    const orderId = await submitted(desk, {});
    const [request = assert.fail()] = desk.messages('workflows-requests');
    await desk.deliver('workflows-requests');
    await desk.answer(await desk.request(), ok({ id: 'ch_1' }));
    return { desk, orderId, childId: childIdOf(String(request['idempotencyKey'])) };
  }

  /** Has the caller check whether the reply to its call was lost. */
  async function askAgain(desk: Desk): Promise<void> {
    await desk.clock.advance(700_000);
    await desk.supervisor.pass();
    for (const queue of ['wake-ups', 'workflows-requests', 'workflows-replies']) await desk.deliver(queue);
  }

  test('F-101, S22: a called order can be compensated, however long ago it finished', async (context) => {
    const { desk, orderId, childId } = await paid(context);
    await desk.deliver('workflows-replies');
    assert.equal(await forgetAfter(desk, 7), 0);
    assert.equal((await desk.state(childId)).outcome, 'completed');
    await decide(desk, orderId, 'cancel');
    await desk.deliver('workflows-requests');
    await desk.answer(await desk.request());
    await desk.deliver('workflows-replies');
    assert.deepEqual([(await desk.state(childId)).outcome, (await desk.state(orderId)).outcome], ['compensated', 'canceled']);
  });

  test('S7, S22: a called order repeats nothing when its reply was lost and is requested after its retention time', async (context) => {
    const { desk, orderId } = await paid(context);
    await desk.take('workflows-replies');
    await decide(desk, orderId, 'suspend');
    assert.equal(await forgetAfter(desk, 7), 0);
    await decide(desk, orderId, 'resume');
    await askAgain(desk);
    assert.deepEqual(await desk.requests(), []);
    await desk.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'olga', reason: 'enough' }, { id: 'end' });
    assert.equal((await desk.state(orderId)).outcome, 'terminated');
  });

  test('S7: a called order that an older version forgot before its caller does not begin again, because its outcome is unknown', async (context) => {
    const { desk, orderId, childId } = await paid(context);
    await desk.take('workflows-replies');
    await decide(desk, orderId, 'suspend');
    await desk.clock.advance(8 * dayMs);
    desk.database.prepare('DELETE FROM orders WHERE orderId = ?').run(childId);
    await decide(desk, orderId, 'resume');
    await askAgain(desk);
    assert.deepEqual(await desk.requests(), []);
    assert.equal((await desk.state(orderId)).fault?.type, 'OutcomeUnknown');
  });

  test('S10: a call whose first request was lost begins with the next request, however old its caller is', async (context) => {
    const late = defineWorkflow('late', { version: 1, order: z.object({}) }, () => sequence(waitFor('go', z.object({})), call(child, {})));
    const app = defineApp({ workflows: [late, child], agents: [bank] });
    const desk = openDesk(context, app, { variables: { RETENTION_DAYS: '7' } });
    const orderId = await submitted(desk, {});
    await desk.clock.advance(20 * dayMs);
    await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'go', payload: {} }, { id: 'go-1' });
    assert.equal((await desk.take('workflows-requests')).length, 1);
    await askAgain(desk);
    assert.equal((await desk.request()).operation, 'charge');
  });

  test('S22: a called order is forgotten together with its caller, not earlier', async (context) => {
    const { desk, orderId } = await paid(context);
    await desk.deliver('workflows-replies');
    await forgetAfter(desk, 7);
    await decide(desk, orderId, 'terminate');
    assert.equal(await desk.store.forget(desk.clock.now() - 7 * dayMs, 100), 0);
    assert.equal(await forgetAfter(desk, 7), 2);
    assert.equal(countIn(desk, 'orders'), 0);
  });
});

test('S22: a host forgets all orders whose retention time is over, however many they are, and keeps the others', async (context) => {
  const system = await started(context, lineOf(stepsNamed('charge')), { variables: { RETENTION_DAYS: '7' } });
  const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
  const endedAgo = (orderId: string, days: number) =>
    put(system.store, orderId, { ...finished, updatedAt: system.clock.now() - days * dayMs });
  await Promise.all(listOf(1200, (index) => endedAgo(`old-${index}`, 7.001)));
  await endedAgo('young', 6.9);
  await system.clock.advance(61_000);
  assert.deepEqual(idsOf(await system.store.list({}, undefined, 100)), ['young']);
});
