import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Document, DocumentPage, Documents } from '#ports/documents';
import { type List, type ListRead, lists, sortKey, timeStart } from '#ports/lists';
import { noon } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';

interface Opened {
  readonly store: Documents;
  readonly other: Documents;
  close(): Promise<void>;
}

const task = (id: string, at: number, more: Partial<Document> = {}): Document => ({
  collection: `TASK#${id}`,
  id: 'TASK',
  rev: 1,
  content: { id },
  listA: { list: lists.openTasks, sort: sortKey(at, id) },
  ...more,
});

const idsOf = ({ items }: DocumentPage): readonly unknown[] => items.map(({ content }) => content['id']);

async function walk(store: Documents, read: ListRead): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let after: string | undefined, pages = 0; ; pages++) {
    assert.ok(pages < 100, 'the list has no end');
    const page = await store.listed({ ...read, ...(after === undefined ? {} : { after }) });
    assert.ok(page.items.length <= read.limit);
    found.push(...idsOf(page));
    if (page.next === undefined) return found;
    after = page.next;
  }
}

async function put(store: Documents, documents: readonly Document[]): Promise<void> {
  for (const document of documents) assert.deepEqual(await store.putDocument(document, document.rev - 1), { outcome: 'written' });
}

/** The promises of every store about lists of documents. */
export function listsContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('a document is on the three lists that its write names, and on no other list', async ({ store, other }) => {
    const [first, second] = [
      task('t1', noon, {
        listB: { list: lists.tasksOfPerson('ann'), sort: sortKey(noon, 't1') },
        listC: { list: lists.tasksOfGroup('claims', 'claimed'), sort: sortKey(noon, 't1') },
      }),
      task('t2', noon + 1),
    ];
    await put(store, [first, second]);
    const read = { order: 'ascending', limit: 10 } as const;
    assert.deepEqual((await other.listed({ ...read, list: lists.openTasks })).items, [first, second]);
    assert.deepEqual((await other.listed({ ...read, list: lists.tasksOfPerson('ann') })).items, [first]);
    assert.deepEqual((await other.listed({ ...read, list: lists.tasksOfGroup('claims', 'claimed') })).items, [first]);
    assert.deepEqual((await other.listed({ ...read, list: lists.tasksOfPerson('bob') })).items, []);
    assert.deepEqual((await other.listed({ ...read, list: lists.tasksOfGroup('claims', 'open') })).items, []);
    assert.deepEqual((await other.listed({ ...read, list: { ...lists.openTasks, index: 'B' } as List })).items, []);
  });

  it('a list is read in both directions, page by page, across its shards', async ({ store, other }) => {
    const ids = listOf(40, (index) => `t${index}`);
    await put(
      store,
      ids.map((id, index) => task(id, noon + index)),
    );
    for (const limit of [1, 7, 40, 100]) {
      assert.deepEqual(await walk(other, { list: lists.openTasks, order: 'ascending', limit }), ids);
      assert.deepEqual(await walk(other, { list: lists.openTasks, order: 'descending', limit }), ids.toReversed());
    }
  });

  it('a read of a list may begin and end at a given time', async ({ store }) => {
    await put(
      store,
      listOf(9, (index) => task(`t${index}`, noon + index)),
    );
    for (const [order, limit] of [
      ['ascending', 2],
      ['descending', 100],
    ] as const) {
      const read = { list: lists.openTasks, order, limit, from: timeStart(noon + 3), to: timeStart(noon + 6) };
      assert.deepEqual((await walk(store, read)).toSorted(), ['t3', 't4', 't5']);
    }
    const empty = { list: lists.openTasks, order: 'ascending', limit: 2, from: timeStart(noon + 9), to: timeStart(noon) } as const;
    assert.deepEqual(await store.listed(empty), { items: [] });
  });

  it('a document is on the lists that its latest write names, and on no earlier ones', async ({ store, other }) => {
    const done = lists.doneTasks('2026-01-31');
    await put(store, [task('t1', noon), task('t1', noon, { rev: 2, listA: { list: done, sort: sortKey(noon + 5, 't1') } })]);
    const read = { order: 'ascending', limit: 10 } as const;
    assert.deepEqual(idsOf(await other.listed({ ...read, list: lists.openTasks })), []);
    assert.deepEqual(idsOf(await other.listed({ ...read, list: done })), ['t1']);
    const { listA: _, ...without } = task('t1', noon, { rev: 3 });
    await put(store, [without]);
    assert.deepEqual(idsOf(await other.listed({ ...read, list: done })), []);
    await put(store, [task('t2', noon)]);
    await store.removeDocument('TASK#t2', 'TASK', 1);
    assert.deepEqual(idsOf(await other.listed({ ...read, list: lists.openTasks })), []);
  });

  it('a collection is also read as a list, in the order of the ids of its documents', async ({ store, other }) => {
    const entries = listOf(9, (index): Document => ({ collection: 'AUDIT#2026-01-31', id: `e${index}`, rev: 1, content: { id: index } }));
    await put(store, entries);
    const read = { list: { index: 'collection', name: 'AUDIT#2026-01-31' }, order: 'descending', limit: 4 } as const;
    assert.deepEqual(await walk(other, read), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    assert.deepEqual(idsOf(await other.listed({ ...read, order: 'ascending', from: 'e3' })), [3, 4, 5, 6]);
  });

  it('whatever is written, reading all pages of a list finds each document once, in order', async ({ store }) => {
    let round = 0;
    const [sizes, limits] = [fc.array(fc.nat(20), { maxLength: 25 }), fc.integer({ min: 1, max: 9 })];
    const property = fc.asyncProperty(sizes, limits, fc.boolean(), async (times, limit, isSharded) => {
      const list: List<'A'> = { index: 'A', name: `L${++round}`, isSharded };
      const sorts = times.map((at, index) => sortKey(at, `${index}`));
      await put(
        store,
        sorts.map(
          (sort, index): Document => ({ collection: `C${round}#${index}`, id: 'X', rev: 1, content: { id: sort }, listA: { list, sort } }),
        ),
      );
      assert.deepEqual(await walk(store, { list, order: 'ascending', limit }), sorts.toSorted());
    });
    await fc.assert(property, { numRuns: 10 });
  });
}
