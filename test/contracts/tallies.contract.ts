import assert from 'node:assert/strict';
import type { Document, Documents } from '#ports/documents';
import type { Tallies, TallyAdd } from '#ports/tallies';
import { noon } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';

interface Opened {
  readonly store: Documents & Tallies;
  readonly other: Documents & Tallies;
  close(): Promise<void>;
}

const document = (id: string, rev = 1): Document => ({ collection: 'ORDER#ord_1', id, rev, content: { id, rev } });
const add = (id: string, more: Partial<TallyAdd> = {}): TallyAdd => ({
  collection: 'GROUPS#1',
  id,
  sums: { total: 1 },
  about: { first: id },
  expiresAt: noon + 86_400_000,
  ...more,
});

/** The promises of every store about tallies. */
export function talliesContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('a tally has the sums of all its writes, the times of the first and the last write, and the description from the first write', async ({
    store,
    other,
  }) => {
    await store.putCounted(document('a'), 0, add('day', { at: noon, sums: { total: 1, h07: 1 } }));
    await other.putCounted(document('b'), 0, add('day', { at: noon + 5, sums: { total: 1, h08: 1 }, about: { first: 'another' } }));
    assert.deepEqual(await other.putCounted(document('a', 2), 1, add('day', { sums: { handled: 1 } })), { outcome: 'written' });
    assert.deepEqual(await store.tallies('GROUPS#1', '0'), [
      {
        collection: 'GROUPS#1',
        id: 'day',
        sums: { total: 2, h07: 1, h08: 1, handled: 1 },
        about: { first: 'day' },
        firstAt: noon,
        lastAt: noon + 5,
      },
    ]);
    assert.deepEqual((await other.document('ORDER#ord_1', 'a'))?.content, { id: 'a', rev: 2 });
  });

  it('a document whose write is refused adds nothing to the tally', async ({ store, other }) => {
    await store.putCounted(document('a'), 0, add('day', { at: noon }));
    const again = await other.putCounted({ ...document('a'), content: { other: true } }, 0, add('day', { at: noon }));
    assert.deepEqual(again, { outcome: 'refused', current: document('a') });
    assert.deepEqual(await other.putCounted(document('a', 8), 7, add('day')), { outcome: 'refused', current: document('a') });
    assert.deepEqual((await store.tallies('GROUPS#1', '0'))[0]?.sums, { total: 1 });
  });

  it('all writes to a tally at the same time are counted', async ({ store, other }) => {
    const writers = listOf(12, (index) => (index % 2 ? store : other).putCounted(document(`d${index}`), 0, add('day', { at: noon })));
    assert.ok((await Promise.all(writers)).every(({ outcome }) => outcome === 'written'));
    assert.deepEqual((await store.tallies('GROUPS#1', '0'))[0]?.sums, { total: 12 });
  });

  it('the tallies of a collection are read from an id on, in the order of their ids', async ({ store }) => {
    for (const id of ['2026-01-03', '2026-01-01', '2026-01-02']) await store.putCounted(document(id), 0, add(id, { at: noon }));
    await store.putCounted(document('other'), 0, add('2026-01-02', { at: noon, collection: 'GROUPS#2' }));
    assert.deepEqual(
      (await store.tallies('GROUPS#1', '2026-01-02')).map(({ id }) => id),
      ['2026-01-02', '2026-01-03'],
    );
  });
}
