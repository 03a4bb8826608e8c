import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import { openEmbedded } from '../../lib/embedded.ts';
import type { Announcement } from '../../lib/publisher.ts';
import { keptFor } from '../../lib/stores/sqlite/tidying.ts';
import { listOf } from '../support/workflows.ts';

function opened(context: TestContext) {
  const clock = manualClock();
  const embedded = openEmbedded(':memory:', { clock });
  context.after(() => embedded.database.close());
  const announced = () => embedded.publisher.published(0, 10_000).map(({ id }) => id);
  return { ...embedded, clock, announced };
}

const alert = (id: string): Announcement => ({ id, detailType: 'Order In Error', detail: {} });

test('S22: what lies unread on any queue for 14 days is removed, as SQS does, and nothing that is younger', async (context) => {
  const { channel, clock, tidy } = opened(context);
  const queues = ['redress-response-acme', 'wake-ups'];
  await channel.send(queues.flatMap((queue) => listOf(1200, () => ({ queue, body: 'old' }))));
  await clock.advance(keptFor.messagesMs);
  await channel.send(queues.map((queue) => ({ queue, body: 'new' })));
  await tidy();
  assert.equal((await channel.depth('wake-ups')).visible, 1201, 'not a moment too soon');
  await clock.advance(1);
  await tidy();
  for (const queue of queues)
    assert.deepEqual(
      (await channel.receive(queue, { max: 10, visibilityMs: 0, waitMs: 0 })).map(({ body }) => body),
      ['new'],
    );
});

test('S22: announcements are kept for 90 days, and no more than 100,000 of them', async (context) => {
  const { publisher, database, clock, tidy, announced } = opened(context);
  await publisher.publish(['old', 'also old'].map(alert));
  await clock.advance(keptFor.announcementsMs);
  await publisher.publish([alert('young')]);
  await tidy();
  assert.equal(announced().length, 3);
  await clock.advance(1);
  await tidy();
  assert.deepEqual(announced(), ['young']);

  await database.write(() =>
    database.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?').run(keptFor.announcements + 2, 'announcements'),
  );
  await publisher.publish([alert('newest')]);
  await tidy();
  assert.deepEqual(announced(), ['newest']);
});

test('S22: a document whose time is over is removed, also where orders are kept for ever', async (context) => {
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
