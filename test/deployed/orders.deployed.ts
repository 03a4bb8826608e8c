import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceNames } from '../../examples/shop/services.ts';
import {
  announcementsOf,
  call,
  client,
  disturb,
  effects,
  ended,
  eventually,
  killFunction,
  kindOf,
  openQueue,
  orderOf,
  received,
  runId,
  sample,
  submit,
  subscribe,
} from './support.ts';

test('F-01: an order posted to the deployed API is completed, with each step done once', async () => {
  const orderId = await submit(sample('ok'));
  const order = await ended(orderId);
  assert.partialDeepStrictEqual(order, { processState: 'Processed', outcome: 'completed', failureCount: 0, fault: null });
  for (const service of serviceNames) assert.equal((await effects(service, orderId)).length, 1, service);
});

test('a repeated submission gets the first answer, and creates no second order', async () => {
  const again = { body: sample('two-items'), headers: { 'idempotency-key': `${runId}-again` } };
  const first = await call('POST', '/orders', again);
  const second = await call('POST', '/orders', again);
  assert.equal(await second.text(), await first.text());
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
});

test('a caller without a token, or with an invalid order, gets problem+json', async () => {
  const refused = await call('GET', '/orders', { role: 'nobody' });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('content-type'), 'application/problem+json');
  const invalid = await call('POST', '/orders', { body: { order: { items: 'many' } }, headers: { 'idempotency-key': `${runId}-bad` } });
  assert.equal(invalid.status, 422);
  const { code, errors } = (await invalid.json()) as { code: string; errors: { pointer: string }[] };
  assert.equal(code, 'invalid');
  assert.ok(errors.some(({ pointer }) => pointer === '/order/items'));
  assert.equal((await call('GET', '/nowhere')).status, 404);
});

test('F-58, F-59: a refused order is blocked, and the topic delivers one alert', async (t) => {
  const topic = await subscribe(t);
  const orderId = await submit(sample('address-invalid'));
  assert.partialDeepStrictEqual(await ended(orderId), { processState: 'Error', fault: { type: 'AddressInvalid' } });
  // `Workflow Terminated` arrives on the same topic, before or after; SNS may deliver one alert twice.
  const inError = (heard: readonly string[]) => announcementsOf(orderId, heard).filter((each) => each['detail-type'] === 'Order In Error');
  const alerts = inError(await received(topic, (heard) => inError(heard).length > 0));
  const [alert, ...others] = [...new Map(alerts.map((each) => [JSON.stringify(each.detail), each])).values()];
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(alert?.detail, {
    orderId,
    type: 'AddressInvalid',
    class: 'expected',
    after: 'Error',
    failureCount: 0,
  });
});

test('F-100: a declined card undoes the effects, and the customer is notified', async () => {
  const orderId = await submit(sample('card-declined'));
  assert.partialDeepStrictEqual(await ended(orderId), {
    processState: 'Processed',
    outcome: 'compensated',
    fault: { type: 'CardDeclined' },
  });
  assert.equal((await effects('inventory', orderId)).filter(({ undoneAt }) => undoneAt === undefined).length, 0);
  assert.equal((await effects('payment', orderId)).length, 0);
  assert.equal(await kindOf(orderId), 'notification:refused');
});

test('a client with a response queue gets the status messages of its order in that queue', async (t) => {
  const channel = `redress-response-${runId}`;
  const { url } = await openQueue(t, channel);
  const put = await call('PUT', `/clients/${client}`, {
    role: 'admin',
    body: { responseChannels: [channel], senders: [], reason: 'a test' },
  });
  assert.equal(put.status, 201, await put.text());
  const orderId = await submit({ ...sample('ok'), responseChannel: channel });
  const bodies = await received(url, (heard) => heard.some((body) => JSON.parse(body).status === 'completed'));
  const heard = bodies.map((body) => JSON.parse(body)).toSorted((one, other) => one.seq - other.seq);
  assert.deepEqual([...new Set(heard.map(({ status }) => status))], ['received', 'completed']);
  for (const { orderId: about } of heard) assert.equal(about, orderId);
});

test('F-50: when the agent of a step crashes, the step is requested again after its deadline, and the order completes with one charge', async (t) => {
  await disturb(t, { service: 'payment', silent: true, times: 1 });
  const orderId = await submit(sample('ok'));
  const completeBy = await eventually('the step that gets no answer', async () => {
    const step = (await orderOf(orderId)).steps.find(({ name, status }) => name === 'charge' && status === 'Executing');
    return step?.completeBy ?? undefined;
  });
  const killed = killFunction('agent-payment');
  assert.partialDeepStrictEqual(await ended(orderId), { processState: 'Processed', outcome: 'completed', failureCount: 0 });
  const { items } = (await (await call('GET', `/orders/${orderId}/history`, { role: 'operator' })).json()) as { items: Entry[] };
  const [, again] = items.filter(({ type, path }) => type === 'StepRequested' && path?.endsWith('charge'));
  assert.ok(again, JSON.stringify(items));
  t.diagnostic(JSON.stringify({ figure: 'dead agent', killed, healedAfterMs: Date.parse(again.at) - Date.parse(completeBy) }));
  assert.equal((await effects('payment', orderId)).length, 1);
});

interface Entry {
  readonly type: string;
  readonly at: string;
  readonly path?: string;
}
