import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, secret, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { acquireLease } from '#roles/scheduler/lease';
import { type CallOptions, startApi } from './support.ts';

const desk = defineAgent('desk', { file: operation({ input: z.object({ name: z.string() }), output: z.object({}), run: () => ({}) }) });
const Visa = z.strictObject({ granted: z.boolean(), number: secret(z.string()), name: z.string().max(20) });
const travel = defineWorkflow('fulfil-order', { version: 1, order: z.object({ visas: z.int() }) }, () => {
  const visa = waitFor('visa', Visa);
  return sequence(
    desk.file({ name: 'first' }).named('first'),
    parallel(visa, waitFor('ticket', z.unknown())),
    desk.file({ name: visa.output.name }),
  );
});
const app = defineApp({ workflows: [travel], agents: [desk] });
const visa = { granted: true, number: 'X-4711-canary', name: 'Ann' };
const filed = { status: 'succeeded', output: {} } as const;

async function withOrder(change: Parameters<typeof startApi>[0] = {}) {
  const system = startApi({ app, ...change });
  const orderId = await system.submitOrder('k', { body: { order: { visas: 1 } } });
  const signal = (
    name: string,
    body: unknown,
    { key, as = 'acme', id = orderId }: { key?: string; id?: string } & Pick<CallOptions, 'as'> = {},
  ) =>
    system.ask('POST', `/orders/${id}/signals/${name}`, {
      as,
      body,
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  const show = async () => (await system.ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  const history = async () => (await system.ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'operator' })).json.items;
  return { ...system, orderId, signal, show, history };
}

describe('a signal from outside', () => {
  test('continues the step that waits for it, which gets the payload; a secret in the payload is in no history', async () => {
    const { signal, answer, orderId, history, queues } = await withOrder();
    await answer('desk', filed);
    const { status, json, headers } = await signal('visa', visa);
    assert.deepEqual(
      [status, json.orderId, json.processState, headers.get('location')],
      [202, orderId, 'Processing', `/orders/${orderId}`],
    );
    assert.equal(headers.get('etag'), `"${json.rev}"`);
    assert.equal((await signal('ticket', null)).status, 202);
    const [message] = await queues.receive('desk-requests', { max: 1, visibilityMs: 1000, waitMs: 0 });
    assert.deepEqual((JSON.parse(message?.body ?? '{}') as { input: unknown }).input, { name: 'Ann' });
    const shown = JSON.stringify(await history());
    assert.match(shown, /SignalReceived/);
    assert.ok(!shown.includes('canary'));
  });

  test('is stored if it arrives before a step waits for it', async () => {
    const { signal, answer, show } = await withOrder();
    assert.equal((await signal('visa', visa)).status, 202);
    assert.equal((await signal('ticket', 7)).status, 202);
    await answer('desk', filed);
    await answer('desk', filed);
    assert.deepEqual([(await show()).processState, (await show()).outcome], ['Processed', 'completed']);
  });

  test('is stored in a Pending order, which stays unclaimed', async () => {
    const { signal, show } = await withOrder({ claimOnSubmit: false });
    assert.equal((await signal('visa', visa)).json.processState, 'Pending');
    assert.equal((await show()).lockedBy, null);
  });

  test('has no second effect under the same key, even after a step has consumed it or the order has ended', async () => {
    const { signal, answer, history } = await withOrder();
    const once = await signal('visa', visa, { key: 'one' });
    assert.equal(once.headers.get('idempotent-replayed'), null);
    const again = await signal('visa', visa, { key: 'one' });
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed'), again.json.rev], [202, 'true', once.json.rev]);
    await answer('desk', filed);
    assert.equal((await signal('visa', visa, { key: 'one' })).status, 202);
    await signal('ticket', {}, { key: 'two' });
    await answer('desk', filed);
    assert.equal((await signal('visa', visa, { key: 'one' })).headers.get('idempotent-replayed'), 'true');
    const received = (await history()).filter(({ type }: { type: string }) => type === 'SignalReceived');
    assert.deepEqual(
      received.map(({ name }: { name: string }) => name),
      ['visa', 'ticket'],
    );
  });

  test('is refused if its key was used for another request; the same key of another client is independent', async () => {
    const { signal, ask, orderId } = await withOrder();
    await signal('visa', visa, { key: 'one' });
    for (const [name, body] of [
      ['visa', { ...visa, name: 'Bob' }],
      ['ticket', visa],
    ] as const) {
      const reused = await signal(name, body, { key: 'one' });
      assert.deepEqual([reused.status, reused.json.code], [422, 'idempotency-key-reused']);
    }
    const others = await signal('ticket', {}, { key: 'one', as: 'operator' });
    assert.deepEqual([others.status, others.headers.get('idempotent-replayed')], [202, null]);
    for (const key of ['', 'x'.repeat(256)]) assert.equal((await signal('ticket', {}, { key })).json.code, 'bad-parameter');

    const cancel = (key: string) =>
      ask('POST', `/orders/${orderId}/cancel`, { as: 'acme', body: { reason: 'no longer' }, headers: { 'idempotency-key': key } });
    assert.equal((await cancel('one')).json.code, 'idempotency-key-reused');
    assert.equal((await cancel('two')).status, 202);
    assert.deepEqual([(await cancel('two')).status, (await cancel('three')).json.code], [202, 'conflict']);
  });

  test('is refused with 409 and the possible signals if it arrives too late, or no step will ever wait for it', async () => {
    const { signal, answer, stored } = await withOrder();
    await answer('desk', filed);
    await signal('visa', visa);
    const before = await stored();
    for (const name of ['passport', 'constructor', 'visa']) {
      const refused = await signal(name, visa);
      assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'], name);
      assert.match(refused.json.errors[0].detail, /wait for: ticket\./);
    }
    assert.equal(await stored(), before);
    await signal('ticket', 1);
    await answer('desk', filed);
    assert.deepEqual((await signal('ticket', 1)).json.code, 'conflict');
  });

  test('is refused by an order that is being compensated', async () => {
    const { signal, ask, orderId } = await withOrder();
    await ask('POST', `/orders/${orderId}/cancel`, { as: 'acme', body: { reason: 'no longer' } });
    assert.deepEqual((await signal('ticket', 1)).json.code, 'conflict');
  });

  test('must have a payload that fits the schema of the workflow: each problem has a JSON pointer', async () => {
    const { signal, stored } = await withOrder();
    const before = await stored();
    const { status, json } = await signal('visa', { granted: 'yes', number: 'X', name: 'Ann', more: 1 });
    assert.deepEqual([status, json.code], [422, 'invalid']);
    assert.deepEqual(json.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted(), ['/granted', '/more']);
    assert.equal((await signal('ticket', 'x'.repeat(1025))).status, 422);
    assert.equal((await signal('ticket', undefined)).status, 415);
    assert.equal(await stored(), before);
  });

  test('is refused as a bad parameter if its name is invalid, and as not found for an order that the caller may not see', async () => {
    const { signal } = await withOrder();
    for (const name of ['1st', '-', 'a'.repeat(65), '%C3%A9', 'a%2Fb'])
      assert.equal((await signal(name, 1)).json.code, 'bad-parameter', name);
    assert.equal((await signal('ticket', 1, { as: 'other' })).status, 404);
    assert.equal((await signal('1st', 1, { as: 'other' })).status, 404);
    assert.equal((await signal('ticket', 1, { id: 'ord_no' })).status, 404);
    assert.equal((await signal('ticket', 1, { as: 'clientless' })).status, 403);
    assert.equal((await signal('ticket', 1, { as: 'admin' })).status, 202);
  });

  test('is refused if the order already stores a hundred signals, until a step consumes one', async () => {
    const { signal, answer } = await withOrder();
    for (let count = 0; count < 100; count++) assert.equal((await signal('ticket', count)).status, 202);
    const { status, json } = await signal('ticket', 100);
    assert.deepEqual([status, json.code], [409, 'conflict']);
    assert.match(json.errors[0].detail, /100 signals/);
    assert.equal((await signal('visa', visa)).json.code, 'conflict');
    await answer('desk', filed);
    assert.equal((await signal('visa', visa)).status, 202, 'one of the hundred signals was consumed');
  });

  test('is refused as locked while another host holds the lease, and refused while the instance is damaged', async () => {
    const { signal, store, clock, orderId } = await withOrder();
    await acquireLease(store, orderId, { holder: 'somebody', leaseMs: 30_000, clock });
    assert.equal((await signal('ticket', 1)).json.code, 'locked');
    await clock.advance(30_000);
    const found = await store.load(orderId);
    assert.ok(found);
    await store.update({ ...found.state, rev: found.state.rev + 1, blob: 'x' }, found.state, { messages: [], announcements: [] });
    assert.equal((await signal('ticket', 1)).json.code, 'conflict');
  });
});
