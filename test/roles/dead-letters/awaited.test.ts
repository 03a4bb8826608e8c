import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { call, defineAgent, defineApp, defineWorkflow, operation, secret, sequence } from 'redress';
import * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import type { Request } from '#ports/messages';
import { type DeadLetter, deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { redactedBody } from '#roles/dead-letters/redact';
import { orderBehind, treat } from '#roles/dead-letters/resubmit';
import { type Desk, ok, openDesk, replyTo, submitted } from '../support.ts';

const Charge = z.object({ id: z.string(), token: secret(z.string()) });
const till = defineAgent('till', {
  charge: operation({ input: z.object({ item: z.string() }), output: Charge, run: () => ({ id: 'c-1', token: 'tok_4711' }) }),
  refund: operation({ input: z.object({ token: z.string() }), output: z.object({}), run: () => ({}) }),
});
const Order = z.object({ item: z.string() });
const pay = defineWorkflow('pay', { version: 1, order: Order, completeWithinSeconds: 3600 }, ({ order }) =>
  sequence(
    till.charge({ item: order.item }).undo(({ token }) => till.refund({ token })),
    till.charge({ item: order.item }).named('more'),
  ),
);
const outer = defineWorkflow('outer', { version: 1, order: Order }, ({ order }) => sequence(call(pay, { item: order.item })));
const app = defineApp({ workflows: [outer, pay], agents: [till] });

const opened = (context: TestContext): Desk => openDesk(context, app, { variables: { STEP_COMPLETE_WITHIN_SECONDS: '3600' } });

/** Returns the outcome of a dry run that resubmits this body. */
async function tried({ store, clock, system }: Desk, queue: string, body: object): Promise<string> {
  const about = { queue, messageId: `m-${Math.trunc(clock.now())}`, sentAt: clock.now() };
  const id = deadLetterId(about);
  const message = { ...about, id, body: JSON.stringify(body), reason: 'r', attempts: [], failures: 4, deadAt: clock.now() };
  const document = deadLetterDocument(message);
  await store.putDocument(document, 0);
  const channel = document.collection.slice('DEAD-LETTER#'.length);
  const treatment = { action: 'resubmit', by: 'olga', reason: 'r', dryRun: true } as const;
  const treated = await treat(channel, id, treatment, { ...system, defaultWorkflow: 'outer' });
  await store.removeDocument(document.collection, id, 1);
  return treated.outcome === 'conflict'
    ? treated.reasons.join(' ')
    : treated.outcome === 'invalid'
      ? JSON.stringify(treated.problems)
      : treated.outcome;
}

const confirming = async (desk: Desk): Promise<Request> => (await desk.take('till-requests'))[0] as unknown as Request;

describe('a dead letter is sent again while an order still waits for it', () => {
  test('a reply counts only for the request that it names, only from the requested agent, and only before the deadline', async (context) => {
    const desk = opened(context);
    await submitted(desk, { item: 'tea' }, { workflow: 'pay' });
    const request = await confirming(desk);
    const reply = replyTo(request, ok({ id: 'c', token: 't' }), desk.clock.now());
    assert.equal(await tried(desk, 'till-replies', reply), 'possible');
    assert.match(await tried(desk, 'workflows-replies', reply), /no longer waits/);
    const [attempt, epoch] = [2, 1];
    const older = { ...reply, attempt, requestId: request.requestId.replace(/#.*/, `#${epoch}.${attempt}`) };
    assert.match(await tried(desk, 'till-replies', older), /no longer waits/);
    assert.match(await tried(desk, 'till-replies', { ...reply, sentAt: '2099-01-01T00:00:00.000Z' }), /sent after its deadline/);
    await desk.answer(request, ok({ id: 'c', token: 't' }), { agent: 'till' });
    assert.match(await tried(desk, 'till-replies', reply), /the order has continued/);
  });

  test('a cancellation, which has neither epoch nor attempt, is sent again unless it names the request of another step', async (context) => {
    const desk = opened(context);
    await submitted(desk, { item: 'tea' }, { workflow: 'pay' });
    const { requestId, orderId, path, idempotencyKey } = await confirming(desk);
    const cancel = { v: 1, type: 'cancel', requestId, orderId, path, idempotencyKey };
    assert.equal(await tried(desk, 'till-requests', cancel), 'possible');
    assert.match(await tried(desk, 'till-requests', { ...cancel, path: `${path}/undo` }), /contradiction/);
  });

  test('a request is not sent after its step is canceled or its order is finished', async (context) => {
    const desk = opened(context);
    const orderId = await submitted(desk, { item: 'tea' }, { workflow: 'pay' });
    const request = await confirming(desk);
    assert.equal(await tried(desk, 'till-requests', request), 'possible');
    await desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'olga', reason: 'r' }, { id: 'i' });
    assert.match(await tried(desk, 'till-requests', request), /no longer waits/);
    await desk.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'olga', reason: 'r' }, { id: 'j' });
    assert.match(await tried(desk, 'till-requests', request), /the order is finished \(terminated\)/);
  });

  test('the reply of a called order counts, even if that order was requested several times', async (context) => {
    const desk = opened(context);
    await submitted(desk, { item: 'tea' });
    const [sent] = (await desk.take('workflows-requests')) as unknown as readonly Request[];
    assert.ok(sent);
    assert.equal(await tried(desk, 'workflows-requests', sent), 'possible');
    assert.match(await tried(desk, 'workflows-requests', { ...sent, operation: 'pay@7' }), /unknown-operation/);
    assert.match(await tried(desk, 'workflows-requests', { ...sent, input: {} }), /"pointer":"\/body\/input\/item"/);
    const other = { ...sent, attempt: 9, requestId: sent.requestId.replace(/\.\d+$/, '.9') };
    assert.match(await tried(desk, 'workflows-requests', other), /no longer waits/);
    assert.equal(await tried(desk, 'workflows-replies', replyTo(other, ok({}), desk.clock.now())), 'possible');
    const another = { ...sent, requestId: sent.requestId.replace(/\d+#/, '2#') };
    assert.match(await tried(desk, 'workflows-replies', replyTo(another, ok({}), desk.clock.now())), /no longer waits/);
  });
});

test('the secrets in a reply, and in the request of an undo, are redacted', async (context) => {
  const desk = opened(context);
  const orderId = await submitted(desk, { item: 'tea' }, { workflow: 'pay' });
  const request = await confirming(desk);
  const reply = replyTo(request, ok({ id: 'c', token: 'tok_4711' }), desk.clock.now());
  await desk.answer(request, ok({ id: 'c', token: 'tok_4711' }), { agent: 'till' });
  const undo = { v: 1, type: 'request', orderId, path: 'order/charge/undo', operation: 'refund', input: { token: 'tok_4711' } };
  const shown = async (queue: string, body: object): Promise<Json> => {
    const loaded = await orderBehind({ queue, orderId, body: JSON.stringify(body) } as DeadLetter, desk.system);
    return redactedBody(queue, body as JsonObject, { ...desk.system, defaultWorkflow: 'outer', loaded });
  };
  assert.deepEqual(await shown('till-requests', undo), { ...undo, input: { token: '[secret]' } });
  assert.deepEqual(await shown('till-replies', reply), {
    ...reply,
    result: { status: 'succeeded', output: { id: 'c', token: '[secret]' } },
  });
  const unknown = { ...undo, path: 'order/nowhere' };
  assert.deepEqual(await shown('till-requests', unknown), { ...unknown, input: '[secret]' }, 'its secrets are unknown');
});
