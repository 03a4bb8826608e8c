import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import type { Announcement } from '#ports/event-bus';
import { noon, put } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';

const dayMs = 86_400_000;

const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null, updatedAt: noon } as const;
type Opened = ReturnType<typeof opened>;

function opened(context: TestContext) {
  const clock = manualClock();
  const embedded = openEmbedded(':memory:', { clock });
  context.after(() => embedded.database.close());
  const announced = () => embedded.publisher.published(0, 10_000).map(({ id }) => id);
  return { ...embedded, clock, announced };
}

const alert = (id: string): Announcement => ({ id, detailType: 'Order In Error', detail: {} });

test('S22: messages that stay unread on any queue for 14 days are removed, as in SQS, and no younger ones', async (context) => {
  const { queues, clock, tidy } = opened(context);
  const names = ['redress-response-acme', 'wake-ups'];
  await queues.send(names.flatMap((queue) => listOf(1200, () => ({ queue, body: 'old' }))));
  await clock.advance(14 * dayMs);
  await queues.send(names.map((queue) => ({ queue, body: 'new' })));
  await tidy();
  assert.equal((await queues.depth('wake-ups')).visible, 1201, 'not earlier');
  await clock.advance(1);
  await tidy();
  for (const queue of names)
    assert.deepEqual(
      (await queues.receive(queue, { max: 10, visibilityMs: 0, waitMs: 0 })).map(({ body }) => body),
      ['new'],
    );
});

test('S22: announcements are kept for 90 days, and at most 100,000 of them', async (context) => {
  const { publisher, database, clock, tidy, announced } = opened(context);
  await publisher.publish(['old', 'also old'].map(alert));
  await clock.advance(90 * dayMs);
  await publisher.publish([alert('young')]);
  await tidy();
  assert.equal(announced().length, 3);
  await clock.advance(1);
  await tidy();
  assert.deepEqual(announced(), ['young']);

  await database.write(() => database.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?').run(100_002, 'announcements'));
  await publisher.publish([alert('newest')]);
  await tidy();
  assert.deepEqual(announced(), ['newest']);
});

test('S22: an expired document is removed, even if orders are kept forever', async (context) => {
  const { store, database, clock, tidy } = opened(context);
  const document = (id: string, more: { readonly expiresAt?: number } = {}) => ({ collection: 'C', id, rev: 1, content: {}, ...more });
  await store.putDocument(document('over', { expiresAt: clock.now() }), 0);
  await store.putDocument(document('later', { expiresAt: clock.now() + 60_000 }), 0);
  await store.putDocument(document('endless'), 0);
  await clock.advance(1);
  await tidy();
  assert.deepEqual(
    database
      .prepare('SELECT id FROM documents ORDER BY id')
      .all()
      .map(({ id }) => id),
    ['endless', 'later'],
  );
});

for (const [what, table, most, fill] of [
  ['messages', 'messages', 1000, ({ queues }: Opened) => queues.send(listOf(2500, () => ({ queue: 'wake-ups', body: 'old' })))],
  ['announcements', 'announcements', 1000, ({ publisher }: Opened) => publisher.publish(listOf(2500, (index) => alert(`a${index}`)))],
  ['finished orders', 'orders', 500, ({ store }: Opened) => Promise.all(listOf(1200, (index) => put(store, `o${index}`, finished)))],
] as const)
  test(`S22: ${what} are removed ${most} at a time, so that other work does not wait for long`, async (context) => {
    const opening = opened(context);
    const { database, store, clock, tidy } = opening;
    await fill(opening);
    const count = database.prepare(`SELECT count(*) AS rows FROM ${table}`);
    const left = [Number(count.get()?.['rows'])];
    database.onCommit(() => void left.push(Number(count.get()?.['rows'])));
    await clock.advance(90 * dayMs + 1);
    await tidy();
    await store.forget(noon + 1, 5000);
    const removed = left.slice(1).map((rows, index) => (left[index] ?? 0) - rows);
    assert.deepEqual([left.at(-1), Math.max(...removed)], [0, most]);
  });

test('S22: an order is removed even if a full batch of older orders is kept for their callers', async (context) => {
  const { store } = opened(context);
  await put(store, 'caller');
  const caller = { orderId: 'caller', path: 'order/call', requestId: 'r', attempt: 1, epoch: 1 };
  await Promise.all(listOf(501, (index) => put(store, `called-${index}`, finished, { caller })));
  await put(store, 'alone', { ...finished, updatedAt: noon + 1 });
  assert.equal(await store.forget(noon + 2, 10), 1);
  assert.equal(await store.load('alone'), undefined);
});
