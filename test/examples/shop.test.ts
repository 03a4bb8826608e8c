import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, type TestContext, test } from 'node:test';
import { startShop } from '../../examples/shop/server.ts';

const shop = await startShop();
after(() => shop.close());
afterEach(() => call('DELETE', '/switches'));

interface Sent {
  readonly key?: string;
  readonly body?: object | string;
  readonly url?: string;
  readonly signal?: AbortSignal;
}

async function call(method: string, path: string, { key, body, url = shop.url, signal }: Sent = {}) {
  const response = await fetch(url + path, {
    method,
    ...(key ? { headers: { 'Idempotency-Key': key } } : {}),
    ...(body ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    ...(signal ? { signal } : {}),
  });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
}

const post = (path: string, key: string, body?: object) => call('POST', path, { key, ...(body ? { body } : {}) });
const json = async (reply: Promise<{ text: string }>) => JSON.parse((await reply).text);
const effects = async (service: string, orderId: string, url = shop.url) =>
  (await json(call('GET', `/${service}/effects?orderId=${orderId}`, { url }))).effects;

const items = [{ sku: 'tea', quantity: 2 }];
const address = { name: 'Ada', street: 'Square 12', city: 'London', postalCode: 'SW1Y', country: 'GB' };
const amount = { currency: 'EUR', minorUnits: 900 };

/** Each service's call that has an effect. */
const calls = [
  { service: 'inventory', path: '/inventory/reservations', status: 201, kind: 'reservation', body: { items } },
  { service: 'payment', path: '/payment/charges', status: 201, kind: 'charge', body: { amount, card: 'tok_visa' } },
  { service: 'shipping', path: '/shipping/shipments', status: 201, kind: 'shipment', body: { address, items } },
  { service: 'customer', path: '/customer/notifications', status: 202, kind: 'notification:shipped', body: { kind: 'shipped', text: 'x' } },
] as const;

for (const { service, path, status, kind, body } of calls) {
  test(`${service}: a repeated request with the same key changes nothing and returns the same bytes`, async () => {
    const orderId = `twice-${service}`;
    const first = await post(path, orderId, { orderId, ...body });
    assert.equal(first.status, status);
    assert.deepEqual(await post(path, orderId, { orderId, ...body }), first);
    assert.deepEqual(await post(path, orderId, { orderId: 'another', ...body }), first);

    const [effect, ...more] = await effects(service, orderId);
    assert.deepEqual(more, []);
    assert.partialDeepStrictEqual(effect, { idempotencyKey: orderId, kind });
    assert.ok(Math.abs(Date.parse(effect.at) - Date.now()) < 5_000);
    assert.equal(effect.undoneAt, undefined);
  });

  test(`${service}: an effect is found by its key and by its id`, async () => {
    const orderId = `found-${service}`;
    const { text } = await post(path, orderId, { orderId, ...body });
    const [id] = Object.values(JSON.parse(text));
    assert.partialDeepStrictEqual(await call('GET', `${path}?idempotencyKey=${orderId}`), { status: 200, text });
    assert.partialDeepStrictEqual(await call('GET', `${path}/${id}`), { status: 200, text });
    assert.equal((await call('GET', `${path}?idempotencyKey=other`)).status, 404);
    assert.equal((await call('GET', `${path}/other`)).status, 404);
  });

  test(`${service}: a request without an idempotency key, or with an invalid body, has no effect`, async () => {
    const orderId = `unasked-${service}`;
    const keyless = await call('POST', path, { body: { orderId, ...body } });
    assert.partialDeepStrictEqual(keyless, { status: 400, text: '{"code":"idempotency-key-required"}' });
    assert.partialDeepStrictEqual(await post(path, orderId, { orderId }), { status: 422, text: '{"code":"invalid-request"}' });
    assert.partialDeepStrictEqual(await call('POST', path, { key: orderId, body: '{' }), {
      status: 400,
      text: '{"code":"malformed-json"}',
    });
    assert.deepEqual(await effects(service, orderId), []);
  });
}

test('many concurrent requests with one key share one effect and one answer', async () => {
  const charge = { orderId: 'rush', amount, card: 'tok_visa' };
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('/payment/charges', 'rush', charge)));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await effects('payment', 'rush')).length, 1);
});

test('a request with a key that is in progress is refused', async () => {
  await call('PUT', '/switches', { body: { service: 'payment', latencyMs: 500, times: 1 } });
  const charge = { orderId: 'slow', amount, card: 'tok_visa' };
  const both = [post('/payment/charges', 'slow', charge), post('/payment/charges', 'slow', charge)];
  const second = await Promise.race(both);
  assert.partialDeepStrictEqual(second, { status: 409, text: '{"code":"request-in-progress"}' });
  assert.equal((await post('/payment/charges', 'another', { ...charge, orderId: 'another' })).status, 201);

  const first = (await Promise.all(both)).find(({ status }) => status === 201);
  assert.deepEqual(await post('/payment/charges', 'slow', charge), first);
});

for (const [what, path, body, status, text] of [
  [
    'a sku that is out of stock',
    '/inventory/reservations',
    { items: [...items, { sku: 'none-left', quantity: 1 }] },
    409,
    '{"code":"out-of-stock","sku":"none-left"}',
  ],
  ['a card that is declined', '/payment/charges', { amount, card: 'tok_declined' }, 402, '{"code":"card-declined"}'],
  [
    'an address that is nowhere',
    '/shipping/shipments',
    { items, address: { ...address, postalCode: '00000' } },
    422,
    '{"code":"address-invalid"}',
  ],
] as const) {
  test(`${what} is refused each time, and has no effect`, async () => {
    const first = await post(path, what, { orderId: 'refused', ...body });
    assert.partialDeepStrictEqual(first, { status, text });
    assert.deepEqual(await post(path, what, { orderId: 'refused', ...body }), first);
    assert.equal((await call('GET', `${path}?idempotencyKey=${what}`)).status, 404);
    assert.deepEqual(await effects(path.split('/')[1] ?? '', 'refused'), []);
  });
}

test('a reservation is released once, however often the client requests it', async () => {
  const { reservationId } = await json(post('/inventory/reservations', 'release', { orderId: 'release', items }));
  const path = `/inventory/reservations/${reservationId}`;
  assert.equal((await call('DELETE', path)).status, 204);
  const undone = await effects('inventory', 'release');
  assert.ok(undone[0].undoneAt >= undone[0].at);

  assert.equal((await call('DELETE', path)).status, 204);
  assert.deepEqual(await effects('inventory', 'release'), undone);
  assert.equal((await call('GET', path)).status, 404);
  assert.equal((await call('DELETE', '/inventory/reservations/never-was')).status, 204);
});

test('a charge is refunded once, whatever the key', async () => {
  const { chargeId } = await json(post('/payment/charges', 'charge', { orderId: 'refund', amount, card: 'tok_visa' }));
  const path = `/payment/charges/${chargeId}/refund`;
  assert.equal((await call('POST', path)).status, 400);
  const first = await post(path, 'refund');
  assert.equal(first.status, 200);
  assert.deepEqual(Object.keys(JSON.parse(first.text)), ['refundId']);
  const undone = await effects('payment', 'refund');

  assert.deepEqual(await post(path, 'refund'), first);
  assert.deepEqual(await post(path, 'another key'), first);
  assert.deepEqual(await effects('payment', 'refund'), undone);
  assert.ok(undone[0].undoneAt);
  assert.equal((await post('/payment/charges/ch_0/refund', 'refund-nothing')).status, 404);
});

test('a shipment is recalled unless it has left the warehouse', async () => {
  const ship = (orderId: string, city: string) =>
    json(post('/shipping/shipments', orderId, { orderId, items, address: { ...address, city } }));
  const slow = await ship('slow', 'London');
  const fast = await ship('fast', 'Express');
  assert.ok(slow.trackingNumber);
  assert.equal((await call('DELETE', `/shipping/shipments/${slow.shipmentId}`)).status, 204);
  const late = await call('DELETE', `/shipping/shipments/${fast.shipmentId}`);
  assert.partialDeepStrictEqual(late, { status: 409, text: '{"code":"already-dispatched"}' });
  assert.equal((await effects('shipping', 'fast'))[0].undoneAt, undefined);
});

test('an unknown resource is answered with not found', async () => {
  for (const path of ['/', '/inventory', '/inventory/charges', '/bank/charges', '/payment/charges/ch_1/refund/now', '/constructor/x']) {
    assert.equal((await call('GET', path)).status, 404, path);
  }
  assert.equal((await call('DELETE', '/payment/charges/ch_1')).status, 404);
  assert.equal((await post('/inventory/reservations/res_1/refund', 'k')).status, 404);
});

test('a service that is switched to fail has no effect, and recovers after the given number of calls', async () => {
  await call('PUT', '/switches', { body: { service: 'inventory', failRate: 1, failStatus: 429, times: 2 } });
  const reserve = (key: string) => post('/inventory/reservations', key, { orderId: 'failing', items });
  for (const key of ['a', 'b']) assert.partialDeepStrictEqual(await reserve(key), { status: 429, retryAfter: '1' });
  assert.deepEqual(await effects('inventory', 'failing'), []);
  assert.equal((await reserve('a')).status, 201);
});

test('a service that fails after its effect reports the effect when the request is repeated', async () => {
  await call('PUT', '/switches', { body: { failAfterEffectRate: 1 } });
  const charge = { orderId: 'after', amount, card: 'tok_visa' };
  assert.equal((await post('/payment/charges', 'after', charge)).status, 500);
  assert.equal((await effects('payment', 'after')).length, 1);

  await call('DELETE', '/switches');
  assert.equal((await post('/payment/charges', 'after', charge)).status, 201);
  assert.equal((await effects('payment', 'after')).length, 1);
});

test('a service that is switched to silence never answers; its switch decides whether it has an effect', async () => {
  const ship = (orderId: string) =>
    call('POST', '/shipping/shipments', { key: orderId, body: { orderId, items, address }, signal: AbortSignal.timeout(250) });
  await call('PUT', '/switches', { body: { service: 'shipping', silent: true } });
  await assert.rejects(ship('silent'), { name: 'TimeoutError' });
  assert.deepEqual(await effects('shipping', 'silent'), []);

  await call('PUT', '/switches', { body: { service: 'shipping', silent: true, failAfterEffectRate: 1 } });
  await assert.rejects(ship('silent'), { name: 'TimeoutError' });
  assert.equal((await effects('shipping', 'silent')).length, 1);
});

test('switches are shown, refused if invalid, and reset', async () => {
  const calm = await json(call('GET', '/switches'));
  await call('PUT', '/switches', { body: { service: 'payment', failRate: 0.5 } });
  assert.partialDeepStrictEqual(await json(call('GET', '/switches')), { ...calm, payment: { failRate: 0.5, failStatus: 500 } });
  for (const body of [{ failRate: 2 }, { service: 'bank' }, { failrate: 1 }, { times: 0 }]) {
    assert.equal((await call('PUT', '/switches', { body })).status, 422, JSON.stringify(body));
  }
  assert.deepEqual(await json(call('DELETE', '/switches')), calm);
});

test('two shops with one ledger have no effect twice, and a kill -9 loses no effect', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  const shops = await Promise.all([startProcess(folder, t), startProcess(folder, t)]);
  t.after(() => rmSync(folder, { recursive: true }));
  const charge = (url: string, index: number) =>
    call('POST', '/payment/charges', { url, key: `k${index}`, body: { orderId: `shared-${index % 4}`, amount, card: 'tok_visa' } });
  const calls = Array.from({ length: 40 }, (_, index) => index);
  const answers = await Promise.all(calls.map(async (index) => Promise.all(shops.map(({ url }) => charge(url, index)))));
  for (const [one, other] of answers) assert.deepEqual(one, other);

  const [first, second] = shops;
  first.child.kill('SIGKILL');
  const done = await Promise.all([0, 1, 2, 3].map((order) => effects('payment', `shared-${order}`, second.url)));
  assert.equal(done.flat().length, 40);
  assert.deepEqual(await charge(second.url, 0), answers[0]?.[0]);

  second.child.kill('SIGTERM');
  assert.deepEqual(await once(second.child, 'exit'), [0, null]);
});

async function startProcess(folder: string, t: TestContext): Promise<{ url: string; child: ChildProcess }> {
  const main = new URL('../../examples/shop/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', SHOP_LEDGER: join(folder, 'shop.sqlite') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('shop ')) return { url: line.slice('shop '.length), child };
  }
  throw new Error('The shop did not start.');
}

test('a page of another site cannot reach the switches of the shop', async () => {
  const status = await new Promise((resolve) => {
    const { hostname, port } = new URL(shop.url);
    request({ hostname, port, path: '/switches', headers: { host: 'evil.example' } }, ({ statusCode }) => resolve(statusCode)).end();
  });
  assert.equal(status, 403);
  assert.equal((await call('GET', '/switches')).status, 200);
});
