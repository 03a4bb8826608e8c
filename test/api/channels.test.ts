import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collections } from '#ports/documents';
import { listOf } from '../support/workflows.ts';
import { startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const because = { ...operator, body: { reason: 'the bank moves' } };

test('F-108: when an operator closes a channel, the list shows who closed it, when and why; after it is opened, the list shows that its messages are released', async () => {
  const { ask, clock } = startApi();
  const channel = async () => {
    const { json } = await ask('GET', '/channels', operator);
    return (json.items as { name: string }[]).find(({ name }) => name === 'payment');
  };
  assert.partialDeepStrictEqual(await channel(), { open: true, failuresInRow: 0 });
  const since = new Date(clock.now()).toISOString();
  const { status, json } = await ask('POST', '/channels/payment/close', because);
  assert.equal(status, 200);
  assert.partialDeepStrictEqual(json, { name: 'payment', open: false, since, by: 'olga', reason: 'the bank moves', releasing: false });
  assert.deepEqual(await channel(), json);

  await clock.advance(60_000);
  const opened = await ask('POST', '/channels/payment/open', { ...operator, body: {} });
  assert.equal(opened.status, 200);
  assert.partialDeepStrictEqual(opened.json, { open: true, by: 'olga', releasing: true });
  await clock.advance(60_000);
  assert.partialDeepStrictEqual(await channel(), { open: true, releasing: false });
});

test('F-120: each channel shows the number of its dead letters up to 100, and beyond that only that there are more', async () => {
  const { ask, store } = startApi();
  const counted = async () => {
    const { json } = await ask('GET', '/channels', operator);
    const channels = json.items as { name: string; deadLetters: number; moreDeadLetters?: true }[];
    return channels.flatMap(({ name, deadLetters, moreDeadLetters }) => (deadLetters > 0 ? [{ name, deadLetters, moreDeadLetters }] : []));
  };
  const put = (index: number) =>
    store.putDocument({ collection: collections.deadLetters('payment'), id: `m${index}`, rev: 1, content: {} }, 0);
  assert.deepEqual(await counted(), []);
  await Promise.all(listOf(100, put));
  assert.deepEqual(await counted(), [{ name: 'payment', deadLetters: 100, moreDeadLetters: undefined }]);
  await put(100);
  assert.deepEqual(await counted(), [{ name: 'payment', deadLetters: 100, moreDeadLetters: true }]);
});

test('F-108: opening an open channel or closing a closed one is a conflict; an unknown channel is not found', async () => {
  const { ask, store } = startApi();
  const open = { ...operator, body: {} };
  const refused = await ask('POST', '/channels/payment/open', open);
  assert.deepEqual([refused.status, refused.json.code, refused.json.errors[0].code], [409, 'conflict', 'is-open']);
  assert.equal((await ask('POST', '/channels/payment/close', because)).status, 200);
  const again = await ask('POST', '/channels/payment/close', because);
  assert.deepEqual([again.status, again.json.errors[0].code], [409, 'is-closed']);
  for (const name of ['nobody', 'payment-requests', 'payment-requests-dead', '..%2fpayment'])
    for (const [verb, options] of [
      ['close', because],
      ['open', open],
    ] as const)
      assert.equal((await ask('POST', `/channels/${name}/${verb}`, options)).status, 404, name);
  assert.deepEqual(
    (await store.documents('CHANNELS', undefined, 10)).map(({ id }) => id),
    ['payment'],
  );
});

test('F-108: when two operators close a channel at the same time, one closes it, and the other gets a conflict', async () => {
  const { ask } = startApi();
  const answers = await Promise.all([1, 2].map(() => ask('POST', '/channels/stock/close', because)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
});

test('F-108: a channel is closed only with a reason, and never by a client', async () => {
  const { ask } = startApi();
  assert.equal((await ask('POST', '/channels/payment/close', { ...operator, body: {} })).status, 422);
  assert.equal((await ask('POST', '/channels/payment/close', { ...because, as: 'acme' })).status, 403);
  assert.equal((await ask('POST', '/channels/payment/open', { as: 'acme', body: {} })).status, 403);
});

test("F-108: the engine's own queues are channels, too: submissions and wake-ups", async () => {
  const { ask } = startApi();
  const { json } = await ask('GET', '/channels', operator);
  assert.deepEqual(
    (json.items as { name: string; replies?: object }[]).map(({ name, replies }) => `${name}${replies ? ' pair' : ''}`),
    ['payment pair', 'shipping pair', 'stock pair', 'submissions', 'wake-ups'],
  );
  assert.equal((await ask('POST', '/channels/submissions/close', because)).status, 200);
});

test('F-108: a channel that is opened with a canary lets one request through; until the answer to that, the service counts as unavailable', async () => {
  const { ask, clock, store } = startApi();
  await ask('POST', '/channels/payment/close', because);
  const closedAt = clock.now();
  await clock.advance(4000);
  const { json } = await ask('POST', '/channels/payment/open', { ...operator, body: { canary: true } });
  const probeAt = closedAt + 10_000;
  assert.equal(json.since, new Date(probeAt).toISOString());
  assert.deepEqual(await store.breaker('payment'), {
    agent: 'payment',
    rev: 1,
    openedAt: closedAt,
    probeAt,
    failedProbes: 0,
    closedAt: null,
  });
});
