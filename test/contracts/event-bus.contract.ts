import assert from 'node:assert/strict';
import type { Announcement, Publisher } from '#ports/event-bus';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';

/** A publisher under test, another process's publisher on the same bus, and the announcements on the bus. */
export interface OpenPublisher {
  readonly publisher: Publisher;
  readonly other: Publisher;
  arrived(): Promise<readonly Announcement[]>;
  close(): Promise<void>;
}

const announcement = (id: string, more: Partial<Announcement> = {}): Announcement => ({
  id,
  detailType: 'Order In Error',
  detail: { id, orderId: 'o1' },
  ...more,
});

/** The promises of every publisher; each implementation calls it once. */
export function publisherContract(name: string, open: () => OpenPublisher | Promise<OpenPublisher>): void {
  const it = contractTest(name, open);

  it('F-136: an announcement arrives with its type and its detail, in the order of publishing', async ({ publisher, arrived }) => {
    const detail = { id: 'a', text: 'Größe "quoted" \u2028', nested: { list: [1.5, null] } };
    const announcements = [announcement('a', { detailType: 'Order Processed', detail }), announcement('b')];
    assert.deepEqual(await publisher.publish(announcements), { failed: [] });
    assert.deepEqual(await arrived(), announcements);
  });

  it('S17: an announcement that is published again, by the same process or another, arrives once, with its first content', async ({
    publisher,
    other,
    arrived,
  }) => {
    await publisher.publish([announcement('a')]);
    assert.deepEqual(await other.publish([announcement('a', { detail: { changed: true } }), announcement('b')]), { failed: [] });
    assert.deepEqual(await publisher.publish([announcement('c'), announcement('c'), announcement('a')]), { failed: [] });
    assert.deepEqual(
      await arrived(),
      ['a', 'b', 'c'].map((id) => announcement(id)),
    );
  });

  it('S17: when many processes publish the same announcement at the same time, it arrives once', async ({ publisher, other, arrived }) => {
    await Promise.all(listOf(50, (index) => (index % 2 ? publisher : other).publish([announcement(`a${index % 5}`)])));
    assert.equal((await arrived()).length, 5);
  });

  it('publishing an empty list does nothing', async ({ publisher, arrived }) => {
    assert.deepEqual(await publisher.publish([]), { failed: [] });
    assert.deepEqual(await arrived(), []);
  });
}
