import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodOrder, goodSubmission, startApi } from './support.ts';

test('F-01: an order is accepted with 202 and its id', async () => {
  const { ask, store } = startApi();
  const { status, json, headers } = await ask('POST', '/orders', {
    as: 'acme',
    headers: { 'idempotency-key': 'k1' },
    body: { ...goodSubmission, reference: 'R-1' },
  });
  assert.equal(status, 202);
  assert.deepEqual(json, { orderId: json.orderId, processState: 'Processing', submittedAt: '2026-01-01T00:00:00.000Z' });
  assert.equal(headers.get('location'), `/orders/${json.orderId}`);
  assert.equal(headers.get('idempotent-replayed'), null);
  const stored = await store.load(json.orderId);
  assert.deepEqual([stored?.order.client, stored?.order.reference, stored?.order.body], ['acme', 'R-1', goodOrder]);
});

test('F-10: a repeated submission gets the first answer byte for byte, whatever has happened since', async () => {
  const { ask, store, clock, orderInError } = startApi();
  const orderId = await orderInError('k1');
  const first = await store.load(orderId);
  await clock.advance(60_000);
  const again = await ask('POST', '/orders', {
    as: 'acme',
    headers: { 'idempotency-key': 'k1' },
    text: '{"order":{"card":"tok_canary_4711","quantity":2,"sku":"tea"}}',
  });
  assert.equal(again.status, 202);
  assert.equal(again.text, first?.order.answer);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal((await store.list({}, undefined, 10)).items.length, 1);
});

test('F-10: another order under a used key is refused, and another client may use the same key', async () => {
  const { ask, submitOrder, stored } = startApi();
  const mine = await submitOrder('k1');
  const before = await stored();
  for (const body of [{ order: { ...goodOrder, quantity: 3 } }, { order: { nonsense: true } }, { ...goodSubmission, reference: 'R' }]) {
    const { status, json } = await ask('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': 'k1' }, body });
    assert.deepEqual([status, json.code], [422, 'idempotency-key-reused']);
  }
  assert.equal(await stored(), before);
  assert.notEqual(await submitOrder('k1', { as: 'other' }), mine);
});

test('a submission with the fields of an order at its top is refused: the field "order" is required', async () => {
  const { ask } = startApi();
  const { status, json } = await ask('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': 'k1' }, body: goodOrder });
  const [missing] = json.errors;
  assert.deepEqual([status, missing.pointer, missing.detail], [422, '/order', 'This field is required.']);
});

test('an order without a valid Idempotency-Key is refused', async () => {
  const { ask, stored } = startApi();
  const before = await stored();
  const keys: (string | undefined)[] = [undefined, '', ' ', 'k'.repeat(256), 'k\u00e9', 'a\tb', '\u0080'];
  for (const key of keys) {
    const { status, json } = await ask('POST', '/orders', {
      as: 'acme',
      headers: key === undefined ? {} : { 'idempotency-key': key },
      body: goodSubmission,
    });
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'bad-parameter', '/idempotency-key'], JSON.stringify(key));
  }
  assert.equal(await stored(), before);
  for (const key of ['k', 'k'.repeat(255), '~ !"#'])
    assert.equal(
      (await ask('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': key }, body: goodSubmission })).status,
      202,
      key,
    );
});

const wrongSubmissions: readonly [unknown, string, string][] = [
  [{}, '/order', 'invalid-type'],
  [[], '', 'invalid-type'],
  ['text', '', 'invalid-type'],
  [null, '', 'invalid-type'],
  [{ order: { ...goodOrder, quantity: 0 } }, '/order/quantity', 'too-small'],
  [{ order: { ...goodOrder, extra: 1 } }, '/order/extra', 'unknown-field'],
  [{ order: { sku: 'tea', quantity: 1 } }, '/order/card', 'invalid-type'],
  [{ ...goodSubmission, workflow: 'nonsense' }, '/workflow', 'unknown-workflow'],
  [{ ...goodSubmission, workflow: 7 }, '/workflow', 'invalid-type'],
  [{ ...goodSubmission, reference: 'r'.repeat(129) }, '/reference', 'too-big'],
  [{ ...goodSubmission, responseChannel: 'http://169.254.169.254/latest' }, '/responseChannel', 'unknown-response-channel'],
  [{ ...goodSubmission, responseChannel: 'redress-response-of-somebody' }, '/responseChannel', 'unknown-response-channel'],
  ...['state', 'processState', 'epoch', 'lockedBy', 'completeBy', 'failureCount', 'client', 'version', 'orderId', 'a/b~c'].map(
    (field): [unknown, string, string] => [
      { ...goodSubmission, [field]: 1 },
      `/${field.replace('~', '~0').replace('/', '~1')}`,
      'unknown-field',
    ],
  ),
];
test('an invalid order is refused with the pointer of every error, and leaves nothing behind', async () => {
  const { ask, stored } = startApi();
  const before = await stored();
  for (const [body, pointer, code] of wrongSubmissions) {
    const { status, json } = await ask('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': 'k' }, body });
    assert.deepEqual(
      [status, json.code, json.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])],
      [422, 'invalid', [[pointer, code]]],
      JSON.stringify(body),
    );
  }
  assert.equal(await stored(), before);
});

test('F-06: an order may name only a response queue that is registered for its client', async () => {
  const { ask, store } = startApi();
  const registered = await ask('PUT', '/clients/acme', {
    as: 'admin',
    body: { responseChannels: ['redress-response-acme'], senders: [], reason: 'a test' },
  });
  assert.equal(registered.status, 201);
  const body = { ...goodSubmission, responseChannel: 'redress-response-acme' };
  const taken = await ask('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': 'k' }, body });
  assert.equal(taken.status, 202);
  assert.equal((await store.head(taken.json.orderId))?.responseChannel, 'redress-response-acme');
  assert.equal((await ask('POST', '/orders', { as: 'other', headers: { 'idempotency-key': 'k' }, body })).status, 422);
});

test('F-03, F-05: without claiming on submission an order is Pending, with no step begun', async () => {
  const { submitOrder, ask } = startApi({ claimOnSubmit: false });
  const orderId = await submitOrder('k');
  const { json } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual([json.processState, json.failureCount, json.completeBy, json.outcome, json.fault], ['Pending', 0, null, null, null]);
  assert.deepEqual(new Set(json.steps.map(({ status }: { status: string }) => status)), new Set(['Initialized']));
});

test('X-46: a client above its rate limit gets 429 with retry-after, and other clients are accepted', async () => {
  const { ask, clock, store } = startApi({ config: { defaultWorkflow: 'fulfil-order', clientOrdersPerSecond: 2 } });
  let keys = 0;
  const submit = (as: 'acme' | 'other') =>
    ask('POST', '/orders', { as, headers: { 'idempotency-key': `k${++keys}` }, body: goodSubmission });
  const burst = [];
  for (let time = 0; time < 5; time++) burst.push((await submit('acme')).status);
  assert.deepEqual(burst, [202, 202, 202, 202, 429]);
  const refused = await submit('acme');
  assert.deepEqual([refused.json.code, refused.headers.get('retry-after')], ['rate-limited', '1']);
  assert.equal((await submit('other')).status, 202);
  await clock.advance(1000);
  const later = [await submit('acme'), await submit('acme'), await submit('acme')];
  assert.deepEqual(
    later.map(({ status }) => status),
    [202, 202, 429],
  );
  assert.equal((await store.list({ client: 'acme' }, undefined, 100)).items.length, 6);
});
