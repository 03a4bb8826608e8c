import assert from 'node:assert/strict';
import { collections, type Document, type Documents } from '#ports/documents';
import { timeStart } from '#ports/lists';
import { objectUseIn, storeObjects } from '#roles/recovery/objects';
import { noon } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';

interface Opened {
  readonly store: Documents;
  readonly other: Documents;
  close(): Promise<void>;
}

const bank = collections.deadLetters('bank');
const message = (id: string, rev = 1, more: Partial<Document> = {}): Document => ({
  collection: bank,
  id,
  rev,
  content: { text: 'Größe 😀 "quoted" \\ \u2028', list: [1.5, null, true, {}], rev },
  ...more,
});

/** The promises of every store about documents. */
export function documentsContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('a document is read as it was written, by every process, and under its own collection only', async ({ store, other }) => {
    assert.equal(await store.document(bank, 'm1'), undefined);
    assert.deepEqual(await store.putDocument(message('m1', 1, { expiresAt: noon }), 0), { outcome: 'written' });
    assert.deepEqual(await other.document(bank, 'm1'), message('m1', 1, { expiresAt: noon }));
    assert.equal(await other.document(collections.tracks('bank'), 'm1'), undefined);
    assert.deepEqual(await other.documents(collections.deadLetters('mail'), undefined, 10), []);
  });

  it('F-112: one of fifty writers with the same rev succeeds, and the others get the current document', async ({ store, other }) => {
    await store.putDocument(message('m1'), 0);
    const answers = await Promise.all(
      listOf(50, (index) => (index % 2 ? store : other).putDocument(message('m1', 2, { content: { by: index } }), 1)),
    );
    const won = answers.findIndex(({ outcome }) => outcome === 'written');
    const current = message('m1', 2, { content: { by: won } });
    for (const [index, answer] of answers.entries())
      assert.deepEqual(answer, index === won ? { outcome: 'written' } : { outcome: 'refused', current });
    assert.deepEqual(await store.putDocument(message('m1', 1, { content: {} }), 0), { outcome: 'refused', current });
    assert.deepEqual(await store.putDocument(message('m2', 2), 1), { outcome: 'refused', current: null });
  });

  it('A5: documents that are given with a write are part of its transaction', async ({ store, other }) => {
    const entry = (id: string): Document => ({ ...message(id), collection: collections.audit('2026-01-01') });
    assert.deepEqual(await store.putDocument(message('m1'), 0, [entry('a'), entry('b')]), { outcome: 'written' });
    assert.deepEqual(await other.documents(entry('a').collection, undefined, 10), [entry('a'), entry('b')]);
    assert.equal((await store.putDocument(message('m1', 3), 2, [entry('c')])).outcome, 'refused');
    await assert.rejects(store.putDocument(message('m1', 2), 1, [{ ...entry('a'), content: {} }]), 'an entry is never replaced');
    assert.deepEqual(await other.document(bank, 'm1'), message('m1'));
    assert.deepEqual(await other.documents(entry('a').collection, undefined, 10), [entry('a'), entry('b')]);
  });

  it('F-151: the uses of an object are listed from a time on, each once, even if a step is stored twice', async ({ store, other }) => {
    const used = (at: number, seq: number): Promise<void> =>
      storeObjects(
        { id: `o${seq}`, kind: 'objects', orderId: 'ord_1', path: 'order/take', closedAt: at, seq, reads: ['lot/ä #1'], writes: ['lot/2'] },
        store,
      );
    for (const [at, seq] of [
      [noon, 1],
      [noon + 5, 2],
      [noon + 5, 2],
      [noon + 6, 3],
    ] as const)
      await used(at, seq);
    const uses = await other.documents(collections.object('lot/ä #1'), timeStart(noon + 5), 10);
    assert.deepEqual(
      uses.map(objectUseIn),
      [5, 6].map((ms) => ({ orderId: 'ord_1', path: 'order/take', at: noon + ms, use: 'read' })),
    );
    assert.equal((await other.documents(collections.object('lot/2'), undefined, 10)).length, 3);
  });

  it('F-120: a collection is listed by id, page by page', async ({ store, other }) => {
    const ids = listOf(25, (index) => `m${String(index).padStart(2, '0')}`);
    for (const id of ids.toReversed()) await store.putDocument(message(id), 0);
    const pages: string[][] = [];
    for (let after: string | undefined; ; ) {
      const page = await other.documents(bank, after, 10);
      if (page.length === 0) break;
      pages.push(page.map(({ id }) => id));
      after = page.at(-1)?.id;
    }
    assert.deepEqual(pages, [ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]);
  });

  it('F-120: a collection is counted up to a limit, and the count says whether there are more', async ({ store, other }) => {
    assert.deepEqual(await store.countDocuments(bank, 3), { count: 0, more: false });
    for (const id of ['m1', 'm2', 'm3']) await store.putDocument(message(id), 0);
    await store.putDocument(message('m4', 1, { collection: collections.deadLetters('mail') }), 0);
    assert.deepEqual(await other.countDocuments(bank, 4), { count: 3, more: false });
    assert.deepEqual(await other.countDocuments(bank, 3), { count: 3, more: false });
    assert.deepEqual(await other.countDocuments(bank, 2), { count: 2, more: true });
  });

  it('F-120: a collection of large documents is counted in part, and the count says that there may be more', async ({ store }) => {
    for (const id of listOf(5, (index) => `m${index}`))
      await store.putDocument(message(id, 1, { content: { text: 'x'.repeat(350_000) } }), 0);
    const { count, more } = await store.countDocuments(bank, 100);
    assert.ok(more ? count > 0 && count < 5 : count === 5, `${count} counted${more ? ', and more' : ''}`);
  });

  it('a document is removed once, by a caller that has read its current rev', async ({ store, other }) => {
    await store.putDocument(message('m1'), 0);
    await store.putDocument(message('m1', 2), 1);
    assert.deepEqual(await other.removeDocument(bank, 'm1', 1), { outcome: 'refused', current: message('m1', 2) });
    assert.deepEqual(await other.removeDocument(bank, 'm1', 2), { outcome: 'written' });
    assert.deepEqual(await store.removeDocument(bank, 'm1', 2), { outcome: 'refused', current: null });
    assert.deepEqual(await store.putDocument(message('m1'), 0), { outcome: 'written' });
  });
}
