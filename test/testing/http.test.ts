import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence, waitFor } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';

const Nothing = z.object({});
const shop = defineAgent('shop', { ship: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });
const sold = defineWorkflow('sold', { version: 1, order: z.object({ sku: z.string() }) }, () =>
  sequence(waitFor('paid', z.object({ amount: z.number() })), shop.ship({})),
);
const app = defineApp({ workflows: [sold], agents: [shop] });

interface CallOptions {
  readonly role?: 'client' | 'operator';
  readonly headers?: { readonly [name: string]: string };
  readonly body?: object;
}

/** A client of the API with an injected `fetch`, as a user might write it. */
async function withClient(context: TestContext) {
  const system = await startSystem(app);
  context.after(() => system.stop());
  const tokens = { client: await system.token({ role: 'client', client: 'acme' }), operator: await system.token({ role: 'operator' }) };
  const client =
    (fetch: typeof globalThis.fetch) =>
    async (method: string, path: string, { role = 'client', headers = {}, body }: CallOptions = {}) => {
      const sent = { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json', ...headers };
      const response = await fetch(new URL(path, 'https://orders.example.com'), {
        method,
        headers: sent,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : undefined };
    };
  const ask = client(system.fetch);
  const submit = () => ask('POST', '/orders', { headers: { 'idempotency-key': 'key-1' }, body: { order: { sku: 'tea' } } });
  return { system, ask, submit };
}

test('F-58: a client submits over HTTP; the same key gives the same order, and an unchanged ETag gives 304 without a body', async (context) => {
  const { system, ask, submit } = await withClient(context);
  const { status, json } = await submit();
  assert.equal(status, 202);
  assert.equal((await submit()).json.orderId, json.orderId);
  await system.passTime(1000);
  const path = `/orders/${json.orderId}`;
  const shown = await ask('GET', path);
  const etag = shown.headers.get('etag') ?? '';
  assert.equal((await ask('GET', path, { headers: { 'if-none-match': etag } })).status, 304);
  assert.equal((await ask('POST', `${path}/signals/paid`, { body: { amount: 40 } })).status, 202);
  await system.passTime(1000);
  const ended = await ask('GET', path, { headers: { 'if-none-match': etag } });
  assert.deepEqual([ended.status, ended.json.processState, ended.json.outcome], [200, 'Processed', 'completed']);
});

test('F-58: an order that is canceled over HTTP ends as canceled', async (context) => {
  const { system, ask, submit } = await withClient(context);
  const { orderId } = (await submit()).json;
  assert.equal((await ask('POST', `/orders/${orderId}/cancel`, { body: { reason: 'I have tea' } })).status, 202);
  await system.passTime(1000);
  assert.equal((await system.state(orderId)).outcome, 'canceled');
});

test('F-58: an operator reads and discards dead letters over HTTP, and a client may not', async (context) => {
  const { system, ask } = await withClient(context);
  await system.queues.send([{ queue: 'shop-requests', body: 'nonsense' }]);
  await system.passTime(60_000);
  assert.equal((await ask('GET', '/channels/shop/dead-letters')).status, 403);
  const { json } = await ask('GET', '/channels/shop/dead-letters', { role: 'operator' });
  assert.equal(json.items.length, 1);
  const discarded = await ask('DELETE', `/channels/shop/dead-letters/${json.items[0].id}`, {
    role: 'operator',
    body: { reason: 'a test' },
  });
  assert.equal(discarded.status, 200);
});

test('F-58: without a token, with a foreign token, and with an expired one, the API answers 401', async (context) => {
  const { system, ask } = await withClient(context);
  const other = await startSystem(app);
  context.after(() => other.stop());
  const stolen = await other.token({ role: 'client', client: 'acme' });
  const short = await system.token({ role: 'client', client: 'acme', expiresInSeconds: 60 });
  const as = async (authorization: string) => (await ask('GET', '/orders', { headers: { authorization } })).status;
  assert.deepEqual([await as(''), await as(`Bearer ${stolen}`), await as(`Bearer ${short}`)], [401, 401, 200]);
  await system.passTime(61_000);
  assert.equal(await as(`Bearer ${short}`), 401);
});

test('F-58: the fetch of a test system accepts a path alone, and rejects like the global fetch while no process runs', async (context) => {
  const system = await startSystem(app);
  context.after(() => system.stop());
  assert.equal((await system.fetch('/health')).status, 200);
  system.kill();
  await assert.rejects(system.fetch('/health'), { name: 'TypeError', message: 'fetch failed' });
  await system.start();
  assert.equal((await system.fetch('/health')).status, 200);
});
