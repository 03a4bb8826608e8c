import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLease } from '#roles/scheduler/lease';
import { card, goodOrder, startApi, type Who } from './support.ts';

type Body = { [field: string]: unknown };
/** A system whose test can keep dead letters as the dead-letter function does. */
function withDeadLetter(change: Parameters<typeof startApi>[0] = {}) {
  const system = startApi(change);
  const { ask, queues, deadLetter } = system;

  /** Takes the request of an agent off its queue. */
  async function taken(agent: string): Promise<Body> {
    const queue = `${agent}-requests`;
    const [message] = await queues.receive(queue, { max: 1, visibilityMs: 1000, waitMs: 0 });
    assert.ok(message, `${agent} was asked nothing`);
    await queues.acknowledge(queue, [message.receipt]);
    return JSON.parse(message.body) as Body;
  }

  /** An order whose first request was changed by `wrong` and dead-lettered. */
  async function orderWith(wrong: Body, key = 'k'): Promise<{ orderId: string; id: string; request: Body }> {
    const orderId = await system.submitOrder(key);
    const request = await taken('stock');
    const id = await deadLetter({ queue: 'stock-requests', body: { ...request, ...wrong } });
    return { orderId, id, request };
  }

  const at = (channelName: string, rest = '') => `/channels/${channelName}/dead-letters${rest}`;
  return {
    ...system,
    taken,
    orderWith,
    list: async (name: string, query = '', as: Who = 'operator') => (await ask('GET', `${at(name)}${query}`, { as })).json,
    show: (name: string, id: string) => ask('GET', at(name, `/${id}`), { as: 'operator' }),
    resubmit: (name: string, id: string, body: Body = {}, as: Who = 'operator') =>
      ask('POST', at(name, `/${id}/resubmit`), { as, body: { reason: 'mended', ...body } }),
    discard: (name: string, id: string, body: Body = { reason: 'nobody needs it' }) =>
      ask('DELETE', at(name, `/${id}`), { as: 'operator', body }),
    bulk: (name: string, body: Body) => ask('POST', at(name, '/bulk'), { as: 'operator', body: { reason: 'all of them', ...body } }),
    depth: async (queue: string) => (await queues.depth(queue)).visible,
    history: async (orderId: string, as: Who = 'operator') =>
      (await ask('GET', `/orders/${orderId}/history?limit=100`, { as })).json.items as Body[],
  };
}

const replyTo = ({ orderId, requestId, epoch, attempt, path }: Body, output: unknown): Body => {
  const sentAt = new Date(0).toISOString();
  return { v: 1, type: 'reply', orderId, requestId, epoch, attempt, path, sentAt, result: { status: 'succeeded', output } };
};

const lines = (entries: readonly Body[], type: string) => entries.filter((entry) => entry['type'] === type);

test('F-120: dead letters are listed oldest first, with filters and in pages, without their bodies', async () => {
  const { deadLetter, list, ask } = withDeadLetter();
  const ids = [
    await deadLetter({ queue: 'stock-requests', body: { type: 'request', orderId: 'ord_1' } }),
    await deadLetter({ queue: 'stock-replies', body: { type: 'reply', orderId: 'ord_1' }, reason: 'It was delivered too often.' }),
    await deadLetter({ queue: 'stock-requests', body: 'half a mess' }),
  ];
  const { items, next } = await list('stock');
  assert.deepEqual([items.map(({ id }: Body) => id), next], [ids, null]);
  assert.deepEqual(Object.keys(items[0]).includes('body'), false);
  const found = async (query: string) => (await list('stock', query)).items.map(({ id }: Body) => ids.indexOf(id as string));
  assert.deepEqual(await found('?type=request'), [0]);
  assert.deepEqual(await found('?orderId=ord_1&queue=stock-replies'), [1]);
  assert.deepEqual(await found('?reason=too%20often'), [1]);
  assert.deepEqual(await found(`?sentAfter=${items[0].sentAt}&sentBefore=${items[2].sentAt}`), [1]);
  const first = await list('stock', '?limit=2');
  assert.deepEqual(
    (await list('stock', `?limit=2&cursor=${first.next}`)).items.map(({ id }: Body) => id),
    [ids[2]],
  );
  assert.deepEqual((await list('payment')).items, []);
  for (const [path, status] of [
    ['/channels/nobody/dead-letters', 404],
    [`/channels/stock/dead-letters?type=x&cursor=${first.next}`, 400],
  ] as const)
    assert.equal((await ask('GET', path, { as: 'operator' })).status, status, path);
});

test('F-120: a dead letter is shown with its failures, and without the secrets of its order', async () => {
  const { orderWith, answer, taken, deadLetter, show, submitOrder } = withDeadLetter();
  await submitOrder('k');
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  const request = await taken('payment');
  const id = await deadLetter({ queue: 'payment-requests', body: request, reason: `The service quotes ${card}.`, senderId: 'robot' });
  const { status, json, text } = await show('payment', id);
  assert.deepEqual([status, json.body.input.card, json.failures, json.senderId], [200, '[secret]', 4, 'robot']);
  assert.deepEqual([json.attempts.length, json.attempts[0].error], [1, 'The service quotes [secret].']);
  assert.ok(!text.includes(card));

  const torn = await deadLetter({ queue: 'payment-requests', body: JSON.stringify(request).slice(0, -1) });
  const shown = await show('payment', torn);
  const bytes = JSON.stringify(request).length - 1;
  assert.equal(
    shown.json.text,
    `This message of ${bytes} bytes is not JSON: the error is at character ${bytes}. Its text is hidden, because nobody knows which fields of it are secret.`,
  );
  assert.deepEqual([shown.json.body, shown.text.includes(card)], [null, false]);
  const { id: other } = await orderWith({ v: 7 }, 'k2');
  assert.equal((await show('payment', other)).status, 404, 'of another channel');
});

for (const [what, body] of [
  ['without its last brace', (whole: string) => whole.slice(0, -1)],
  ['with text behind it', (whole: string) => `${whole} x`],
  ['encoded twice', (whole: string) => JSON.stringify(whole)],
  ['inside a list', (whole: string) => `[${whole}]`],
  ['with the order as text', (whole: string) => JSON.stringify({ ...JSON.parse(whole), order: JSON.stringify(JSON.parse(whole).order) })],
  ['with the order under another name', (whole: string) => whole.replace('"order":', '"Order":')],
] as const)
  test(`F-120: a submission ${what} is a dead letter that shows none of its secrets`, async () => {
    const { deadLetter, show } = withDeadLetter();
    const submission = { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'k', order: { item: 'tea', card } };
    const id = await deadLetter({ queue: 'submissions', body: body(JSON.stringify(submission)), reason: 'not a valid submission' });
    const { status, text } = await show('submissions', id);
    assert.deepEqual([status, text.includes(card)], [200, false]);
  });

test('F-120: when a message is edited and resubmitted, its order completes, and its history names the operator and the reason', async () => {
  const { orderWith, resubmit, answer, list, ask, history, depth } = withDeadLetter();
  const { orderId, id, request } = await orderWith({ input: { sku: 7 } });
  const { status, json } = await resubmit('stock', id, { body: request, reason: 'the article is called tea' });
  assert.deepEqual([status, json], [202, { id, channel: 'stock', queue: 'stock-requests', action: 'resubmit', dryRun: false, orderId }]);
  assert.deepEqual([(await list('stock')).items, await depth('stock-requests')], [[], 1]);
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  await answer('payment', { status: 'succeeded', output: { chargeId: 'c', token: 't' } });
  for (const _ of ['ship', 'tell']) await answer('shipping', { status: 'succeeded', output: {} });
  assert.equal((await ask('GET', `/orders/${orderId}`, { as: 'acme' })).json.outcome, 'completed');

  const [line, ...others] = lines(await history(orderId), 'MessageResubmitted');
  assert.deepEqual(others, []);
  assert.deepEqual([line?.['message'], line?.['by'], line?.['reason'], line?.['edited']], [id, 'olga', 'the article is called tea', true]);
  const [seen] = lines(await history(orderId, 'acme'), 'MessageResubmitted');
  assert.deepEqual(Object.keys(seen ?? {}).toSorted(), ['at', 'seq', 'type'], 'the client gets only that information');
});

test('F-120: a body that does not fit its queue is 422 with pointers, and nothing is sent or changed', async () => {
  const { orderWith, resubmit, deadLetter, depth, show } = withDeadLetter();
  const { id, request, orderId } = await orderWith({ operation: 'reserv' });
  const wrong: readonly [unknown, string, string][] = [
    [undefined, '/body/operation', 'unknown-operation'],
    [{ ...request, input: { sku: 7 } }, '/body/input/sku', 'invalid-type'],
    [{ ...request, v: 2 }, '/body/v', 'invalid-value'],
    [{ ...request, type: 'news' }, '/body/type', 'invalid-union'],
    [{ ...request, path: 'order/charge' }, '/body/requestId', 'contradiction'],
    [{ ...request, idempotencyKey: 'another' }, '/body/idempotencyKey', 'not-awaited'],
    [{ ...request, completeBy: '2099-01-01T00:00:00.000Z' }, '/body/completeBy', 'not-awaited'],
    ['no message at all', '/body', 'invalid-type'],
  ];
  const before = (await show('stock', id)).text;
  for (const [body, pointer, code] of wrong) {
    const { status, json } = await resubmit('stock', id, body === undefined ? {} : { body });
    assert.deepEqual([status, json.code, json.errors?.[0].pointer, json.errors?.[0].code], [422, 'invalid', pointer, code]);
  }
  assert.deepEqual([(await show('stock', id)).text, await depth('stock-requests')], [before, 0]);

  const torn = await deadLetter({ queue: 'stock-requests', body: `{"orderId":"${orderId}"` });
  assert.deepEqual((await resubmit('stock', torn)).json.errors[0].code, 'malformed-json');
  const answered = await deadLetter({ queue: 'stock-replies', body: replyTo(request, { reservation: 'r-1' }) });
  assert.equal((await resubmit('stock', answered)).json.errors[0].pointer, '/body/result/output/reservationId');
});

test('a mask in an edited body stands for the secret at the same place; a mask that was moved to another field is refused', async () => {
  const { answer, taken, deadLetter, show, resubmit, submitOrder } = withDeadLetter();
  await submitOrder('k');
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  const request = await taken('payment');
  const id = await deadLetter({ queue: 'payment-requests', body: { ...request, input: { card, reservation: 'r-1' } } });
  const { body } = (await show('payment', id)).json;
  const moved = await resubmit('payment', id, { body: { ...body, input: { reservationId: body.input.card, card: 'tok' } } });
  assert.deepEqual([moved.status, moved.json.errors[0].pointer, moved.json.errors[0].code], [422, '/body/input/reservationId', 'masked']);
  const mended = await resubmit('payment', id, { body: { ...body, input: { reservationId: 'r-1', card: body.input.card } } });
  assert.equal(mended.status, 202, mended.text);
  assert.deepEqual((await taken('payment'))['input'], { reservationId: 'r-1', card });
});

test('a message that no order waits for is not sent, because its effect could follow its own undo', async () => {
  const { orderWith, resubmit, depth, ask, clock, deadLetter } = withDeadLetter();
  const { orderId, id, request } = await orderWith({});
  const refused = async (message: string, says: RegExp) => {
    const { status, json } = await resubmit('stock', message);
    assert.deepEqual([status, json.code], [409, 'conflict']);
    assert.match(json.errors[0].detail, says);
  };
  await clock.advance(10_001);
  await refused(id, /deadline of this request passed/);
  await ask('POST', `/orders/${orderId}/cancel`, { as: 'acme', body: { reason: 'too late' } });
  await refused(id, /no longer waits for this request of order\/reserve/);
  const body = { ...request, orderId: 'ord_x', requestId: 'ord_x/order/reserve/1#1.1' };
  await refused(await deadLetter({ queue: 'stock-requests', body }), /Order ord_x does not exist/);
  assert.equal(await depth('stock-requests'), 0);
});

test('F-120: a message is discarded with a reason, which the history shows; a second discard does not find it', async () => {
  const { orderWith, discard, list, history } = withDeadLetter();
  const { orderId, id } = await orderWith({});
  for (const body of [{}, { reason: ' ' }]) assert.equal((await discard('stock', id, body)).json.errors[0].pointer, '/reason');
  assert.equal((await discard('stock', id, { reason: 'try', dryRun: true })).json.dryRun, true);
  assert.deepEqual(lines(await history(orderId), 'MessageDiscarded'), []);
  const { status, json } = await discard('stock', id);
  assert.deepEqual([status, json.action, json.orderId, (await list('stock')).items], [200, 'discard', orderId, []]);
  assert.equal((await discard('stock', id)).status, 404);
  const [line, ...others] = lines(await history(orderId), 'MessageDiscarded');
  assert.deepEqual([line?.['by'], line?.['reason'], others], ['olga', 'nobody needs it', []]);
});

test('F-120: when several operators resolve a message at the same time, one succeeds and the others are refused', async () => {
  const { orderWith, resubmit, discard, depth, history } = withDeadLetter();
  const { orderId, id } = await orderWith({});
  const answers = await Promise.all([
    resubmit('stock', id),
    discard('stock', id),
    resubmit('stock', id, {}, 'admin'),
    discard('stock', id),
  ]);
  const done = answers.filter(({ status }) => status < 300);
  assert.equal(done.length, 1);
  for (const { status } of answers.filter((answer) => !done.includes(answer))) assert.ok([404, 409].includes(status), String(status));
  const entries = await history(orderId);
  assert.equal(lines(entries, 'MessageResubmitted').length + lines(entries, 'MessageDiscarded').length, 1);
  assert.equal(await depth('stock-requests'), done[0]?.status === 202 ? 1 : 0);
});

test('F-120: a dead letter whose resubmission broke off still shows that resubmission, and is sent again only if an operator confirms it', async () => {
  const { orderWith, deadLetter, queues, resubmit, show, list, depth, clock, history } = withDeadLetter();
  const { orderId, request } = await orderWith({});
  const id = await deadLetter({ queue: 'stock-replies', body: replyTo(request, { reservationId: 'r-1' }) });
  const { send } = queues;
  queues.send = () => Promise.reject(new Error('The process is gone.'));
  assert.equal((await resubmit('stock', id)).status, 500);
  const { handling } = (await show('stock', id)).json;
  assert.deepEqual([handling.action, handling.by, handling.reason], ['resubmit', 'olga', 'mended']);

  queues.send = send;
  const soon = await resubmit('stock', id, { again: true });
  assert.deepEqual([soon.status, /half a minute/.test(soon.json.errors[0].detail)], [409, true], 'it may still be running');
  await clock.advance(30_000);
  const unaware = await resubmit('stock', id);
  assert.deepEqual([unaware.status, /may have been sent/.test(unaware.json.errors[0].detail)], [409, true]);
  assert.equal(await depth('stock-replies'), 0);
  assert.equal((await resubmit('stock', id, { again: true })).status, 202);
  assert.deepEqual([await depth('stock-replies'), (await list('stock', '?queue=stock-replies')).items], [1, []]);
  assert.equal(lines(await history(orderId), 'MessageResubmitted').length, 2, 'the history shows both attempts');
});

test('an interrupted resubmission can be discarded, and an interrupted discard can be resubmitted', async () => {
  const { orderWith, deadLetter, store, resubmit, discard, list, clock } = withDeadLetter();
  const { removeDocument } = store;
  const { request } = await orderWith({});
  const body = replyTo(request, { reservationId: 'r-1' });
  const ids = [await deadLetter({ queue: 'stock-replies', body }), await deadLetter({ queue: 'stock-replies', body })];
  store.removeDocument = () => Promise.reject(new Error('The process is gone.'));
  assert.deepEqual([(await resubmit('stock', ids[0] ?? '')).status, (await discard('stock', ids[1] ?? '')).status], [500, 500]);
  store.removeDocument = removeDocument;
  await clock.advance(30_000);
  assert.deepEqual([(await discard('stock', ids[0] ?? '')).status, (await resubmit('stock', ids[1] ?? '')).status], [200, 202]);
  assert.deepEqual((await list('stock', '?queue=stock-replies')).items, []);
});

test('when another host holds the lease of an order, a dead letter of that order is not resolved and does not change', async () => {
  const { orderWith, resubmit, discard, store, clock, depth, show } = withDeadLetter();
  const { orderId, id } = await orderWith({});
  const lease = await acquireLease(store, orderId, { holder: 'holder_canary', leaseMs: 8000, clock });
  for (const refused of [await resubmit('stock', id), await discard('stock', id)])
    assert.deepEqual([refused.status, refused.json.code, refused.headers.get('retry-after')], [409, 'locked', '8']);
  assert.deepEqual([(await show('stock', id)).json.handling, await depth('stock-requests')], [null, 0]);
  assert.ok(lease);
  await clock.advance(8000);
  assert.equal((await resubmit('stock', id)).status, 202);
});

test('F-120: an edited submission becomes an order only after its sender is registered', async () => {
  const { deadLetter, resubmit, ask, show, history, list } = withDeadLetter();
  const body = { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'by-message', order: { ...goodOrder, quantity: 0 } };
  const id = await deadLetter({ queue: 'submissions', body, senderId: 'robot' });
  const nameless = await deadLetter({ queue: 'submissions', body: { ...body, order: goodOrder } });
  assert.equal((await show('submissions', id)).json.body.order.card, '[secret]');
  const wrong = await resubmit('submissions', id);
  assert.deepEqual([wrong.status, wrong.json.errors[0].pointer], [422, '/body/order/quantity']);
  const mended = { body: { ...body, order: { ...goodOrder, card: '[secret]' } } };
  await ask('PUT', '/clients/acme', { as: 'admin', body: { responseChannels: [], senders: ['somebody-else'], reason: 'a test' } });
  assert.match((await resubmit('submissions', id, mended)).json.errors[0].detail, /robot is not registered for the client acme/);
  await ask('PUT', '/clients/acme', {
    as: 'admin',
    body: { responseChannels: [], senders: ['robot'], reason: 'a test' },
    headers: { 'if-match': '"1"' },
  });
  assert.match((await resubmit('submissions', nameless)).json.errors[0].detail, /Ask the client to send it again/);

  assert.equal((await resubmit('submissions', id, { ...mended, dryRun: true })).status, 200);
  assert.deepEqual((await ask('GET', '/orders', { as: 'acme' })).json.items, []);
  const { status, json } = await resubmit('submissions', id, mended);
  assert.equal(status, 202);
  const order = (await ask('GET', `/orders/${json.orderId}`, { as: 'operator' })).json;
  assert.deepEqual([order.client, order.processState], ['acme', 'Processing']);
  assert.equal(lines(await history(json.orderId), 'MessageResubmitted').length, 1);
  assert.deepEqual((await list('submissions')).items.length, 1);
});

test('F-120: one call resolves many messages by a filter, and its dry run shows the outcome of each', async () => {
  const { orderWith, bulk, list, depth, resubmit } = withDeadLetter();
  const [good, bad, other] = [await orderWith({}, 'k1'), await orderWith({ operation: 'reserv' }, 'k2'), await orderWith({}, 'k3')];
  const outcomes = ({ items }: { items: Body[] }) => items.map(({ id, outcome }) => [id, outcome]);
  const all = { filter: {}, action: 'resubmit' };
  const tried = (await bulk('stock', { ...all, dryRun: true })).json;
  const expected = [
    [good.id, 'possible'],
    [bad.id, 'invalid'],
    [other.id, 'possible'],
  ];
  assert.deepEqual([outcomes(tried), tried.items[1].errors[0].pointer], [expected, '/body/operation']);
  assert.deepEqual([(await list('stock')).items.length, await depth('stock-requests')], [3, 0]);

  const first = (await bulk('stock', { ...all, dryRun: false, limit: 2 })).json;
  assert.deepEqual(outcomes(first), [
    [good.id, 'done'],
    [bad.id, 'invalid'],
  ]);
  const rest = (await bulk('stock', { ...all, dryRun: false, cursor: first.next })).json;
  assert.deepEqual([outcomes(rest), rest.next, await depth('stock-requests')], [[[other.id, 'done']], null, 2]);
  const discarded = (await bulk('stock', { filter: { orderId: bad.orderId }, action: 'discard', dryRun: false })).json;
  assert.deepEqual([outcomes(discarded), (await list('stock')).items], [[[bad.id, 'done']], []]);
  assert.equal((await resubmit('stock', good.id)).status, 404);
  for (const body of [{ ...all }, { ...all, dryRun: false, limit: 51 }, { ...all, dryRun: false, filter: { colour: 'red' } }])
    assert.equal((await bulk('stock', body)).status, 422);
});

test('F-120: one call resolves the messages that a person has chosen, and no others', async () => {
  const { orderWith, bulk, list } = withDeadLetter();
  const letters = [await orderWith({}, 'k1'), await orderWith({ operation: 'reserv' }, 'k2'), await orderWith({}, 'k3')];
  const [first = '', wrong = '', last = ''] = letters.map(({ id }) => id).toSorted();
  const outcomes = ({ items }: { items: Body[] }) => items.map(({ id, outcome }) => [id, outcome]);
  const chosen = { filter: { ids: [last, 'gone', first, last] }, action: 'discard' };
  const tried = (await bulk('stock', { ...chosen, dryRun: true })).json;
  assert.deepEqual(outcomes(tried), [
    [first, 'possible'],
    [last, 'possible'],
  ]);
  const one = (await bulk('stock', { ...chosen, dryRun: false, limit: 1 })).json;
  assert.deepEqual(outcomes(one), [[first, 'done']]);
  const rest = (await bulk('stock', { ...chosen, dryRun: false, cursor: one.next })).json;
  assert.deepEqual([outcomes(rest), rest.next], [[[last, 'done']], null]);
  assert.deepEqual(
    (await list('stock')).items.map(({ id }: Body) => id),
    [wrong],
  );
  const tooMany = Array.from({ length: 51 }, (_, index) => `m${index}`);
  for (const ids of [[], tooMany, ['']]) assert.equal((await bulk('stock', { ...chosen, filter: { ids }, dryRun: true })).status, 422);
});

test('F-120: when an unknown message is discarded without a body, the answer is 404', async () => {
  const { ask, deadLetter } = withDeadLetter();
  const id = await deadLetter({ queue: 'submissions', body: {} });
  const discard = async (path: string) => (await ask('DELETE', `/channels/${path}`, { as: 'operator' })).status;
  assert.deepEqual([await discard('submissions/dead-letters/nothing'), await discard('nowhere/dead-letters/nothing')], [404, 404]);
  assert.equal(await discard(`submissions/dead-letters/${id}`), 415);
});

test('a list with a filter reads 500 messages per page at most, and the next page continues after them', async () => {
  const { ask, deadLetter } = startApi();
  for (let message = 1; message <= 501; message++)
    await deadLetter({ queue: 'stock-requests', body: {}, reason: message < 500 ? 'Common.' : `Rare ${message}.` });
  const look = (cursor = '') => ask('GET', `/channels/stock/dead-letters?reason=rare${cursor}`, { as: 'operator' });
  const first = await look();
  const second = await look(`&cursor=${first.json.next}`);
  assert.deepEqual(
    [first, second].map(({ json }) => [json.items.map(({ reason }: { reason: string }) => reason), json.next !== null]),
    [
      [['Rare 500.'], true],
      [['Rare 501.'], false],
    ],
  );
});
