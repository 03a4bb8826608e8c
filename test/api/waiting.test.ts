import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { waitersMax } from '#api/waiting';
import { goodSubmission, startApi } from './support.ts';

const done = { status: 'succeeded', output: {} } as const;

function start() {
  const api = startApi();
  const { ask, answer, clock } = api;
  /** Lets the agents complete all four steps. */
  const complete = async () => {
    await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
    await answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 't' } });
    for (const _ of ['ship', 'tell']) await answer('shipping', done);
  };
  let sleeps = 0;
  const { sleep } = clock;
  clock.sleep = (...time) => {
    sleeps += 1;
    return sleep(...time);
  };
  /** Begins a call, and returns its answer once it has come or the call waits. The check of its token takes real time. */
  const begin = async (...call: Parameters<typeof ask>) => {
    const before = sleeps;
    const started = { isAnswered: false, answer: ask(...call) };
    void started.answer.finally(() => (started.isAnswered = true));
    while (!started.isAnswered && sleeps === before) await turn();
    return started;
  };
  const read = (path: string, headers = {}) => begin('GET', path, { as: 'acme', headers });
  const post = (key: string, prefer: string) =>
    begin('POST', '/orders', { as: 'acme', headers: { 'idempotency-key': key, prefer }, body: goodSubmission });
  return { ...api, complete, read, post };
}

const applied = (headers: Headers): string | null => headers.get('preference-applied');

test('a client that waits for an order gets it within a second of its end', async () => {
  const { submitOrder, read, complete, clock } = start();
  const waiting = await read(`/orders/${await submitOrder('k')}?wait=25&until=rest`);
  await clock.advance(5_000);
  assert.equal(waiting.isAnswered, false);

  await complete();
  await clock.advance(1_000);
  const { status, json, headers } = await waiting.answer;
  assert.deepEqual([status, json.outcome, applied(headers)], [200, 'completed', 'wait=25']);
});

test('a client that waits gets the present state of the order when the waiting time is over', async () => {
  const { submitOrder, read, clock } = start();
  const waiting = await read(`/orders/${await submitOrder('k')}?wait=3`);
  await clock.advance(2_900);
  assert.equal(waiting.isAnswered, false);
  await clock.advance(100);
  const { json, headers } = await waiting.answer;
  assert.deepEqual([json.processState, applied(headers)], ['Processing', 'wait=3']);
});

test('a client that waits for an order gets it at once when the order is blocked', async () => {
  const { orderInError, read } = start();
  const { answer } = await read(`/orders/${await orderInError('k')}?wait=25`);
  assert.equal((await answer).json.processState, 'Error');
});

test('a client that waits for a change gets the next state of the order, or 304 when the waiting time is over', async () => {
  const { submitOrder, read, answer, clock, ask } = start();
  const path = `/orders/${await submitOrder('k')}`;
  const etag = (await ask('GET', path, { as: 'acme' })).headers.get('etag') ?? '';

  const unchanged = await read(`${path}?wait=2&until=change`, { 'if-none-match': etag });
  await clock.advance(2_000);
  assert.equal((await unchanged.answer).status, 304);

  const changed = await read(`${path}?wait=20&until=change`, { 'if-none-match': etag });
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  await clock.advance(1_000);
  const { status, json } = await changed.answer;
  assert.deepEqual([status, json.steps[0].status], [200, 'Closed']);
});

test('a client that submits an order and prefers to wait gets the order once it has ended', async () => {
  const { post, complete, clock } = start();
  const waiting = await post('k', 'respond-async, wait=20');
  await complete();
  await clock.advance(1_000);
  const { status, json, headers } = await waiting.answer;
  assert.deepEqual([status, json.outcome, applied(headers)], [200, 'completed', 'wait=20']);
  assert.equal(headers.get('location'), `/orders/${json.orderId}`);
});

test('a submission waits for at most 25 seconds, and answers 202 when the order has not ended', async () => {
  const { post, clock } = start();
  const waiting = await post('k', 'wait=90');
  await clock.advance(25_000);
  const { status, json, headers } = await waiting.answer;
  assert.deepEqual([status, Object.keys(json).sort()], [202, ['orderId', 'processState', 'submittedAt']]);
  assert.equal(applied(headers), 'wait=25');
});

test('a submission that is repeated does not wait: it gets the first answer, or the order if it has ended', async () => {
  const { submitOrder, post, complete } = start();
  await submitOrder('k');
  const { answer: early } = await post('k', 'wait=20');
  assert.deepEqual([(await early).status, (await early).headers.get('idempotent-replayed')], [202, 'true']);

  await complete();
  const { answer: late } = await post('k', 'wait=20');
  assert.deepEqual(
    [(await late).status, (await late).json.outcome, (await late).headers.get('idempotent-replayed')],
    [200, 'completed', 'true'],
  );
});

test('a preference to wait that is not a number of seconds is ignored', async () => {
  const { post } = start();
  const { answer } = await post('k', 'wait=soon');
  assert.deepEqual([(await answer).status, applied((await answer).headers)], [202, null]);
});

test('the next call of a client with too many waiting calls does not wait: it gets the present state', async () => {
  const { submitOrder, read, clock } = start();
  const path = `/orders/${await submitOrder('k')}?wait=10`;
  const waiting = [];
  for (let call = 0; call < waitersMax.perCaller; call++) waiting.push(await read(path));
  const { headers, status } = await (await read(path)).answer;
  assert.deepEqual([status, applied(headers)], [200, null]);

  await clock.advance(10_000);
  for (const { answer } of waiting) assert.equal(applied((await answer).headers), 'wait=10');
  const next = await read(path);
  await clock.advance(10_000);
  assert.equal(applied((await next.answer).headers), 'wait=10', 'the slots are free again');
});

test('when a process ends during waiting calls, the places of those calls are free after the longest possible wait', async () => {
  const { submitOrder, read, clock, store } = start();
  const places = Array.from({ length: waitersMax.all }, () => ({ holder: 'gone', until: clock.now() + 30_000 }));
  await store.putDocument({ collection: 'WAITS', id: 'PLACES', rev: 1, content: { places } }, 0);
  const path = `/orders/${await submitOrder('k')}?wait=1`;
  assert.equal(applied((await (await read(path)).answer).headers), null);

  await clock.advance(30_000);
  const waiting = await read(path);
  await clock.advance(1_000);
  assert.equal(applied((await waiting.answer).headers), 'wait=1');
});

for (const [query, detail] of [
  ['wait=26', /whole number of seconds from 0 to 25/],
  ['wait=-1', /whole number of seconds/],
  ['until=rest', /expected together with wait=S/],
  ['wait=5&until=change', /expected If-None-Match/],
  ['wait=5&until=tomorrow', /expected one of rest, change/],
] as const)
  test(`a client that waits with ${query} gets 400 with the reason`, async () => {
    const { submitOrder, ask } = start();
    const { status, json } = await ask('GET', `/orders/${await submitOrder('k')}?${query}`, { as: 'acme' });
    assert.equal(status, 400);
    assert.match(json.errors[0].detail, detail);
  });
