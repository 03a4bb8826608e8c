import assert from 'node:assert/strict';
import type { Document } from '#ports/documents';
import { type List, lists, sortKey, timeStart } from '#ports/lists';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { alone, noon, put } from '../support/records.ts';
import { contractTest } from './contract-test.ts';

interface Opened {
  readonly store: Store;
  readonly other: Store;
  close(): Promise<void>;
}

const minuteMs = 60_000;
const noDeadline = { worklist: null, worklistAt: null, nextDueAt: null, nextDueFor: null } as const;
const pending = { processState: 'Pending', nextDueFor: { kind: 'unclaimed' } } as const;
const inError = { processState: 'Error', worklist: 'error', nextDueFor: { kind: 'reminder' } } as const;

/** Ends an order, in the store and, where the store does not know it, in the counts. */
async function end(store: Store, state: StateRecord, at: number): Promise<void> {
  const ended = { ...state, ...noDeadline, processState: 'Processed', outcome: 'completed', rev: state.rev + 1, updatedAt: at } as const;
  assert.deepEqual(await store.update(ended, state, alone), { outcome: 'written' });
  await store.addFinished?.(new Map([[at - (at % minuteMs), 1]]));
}

const task = (id: string, listA: List<'A'>, at: number): Document => ({
  collection: `TASK#${id}`,
  id: 'TASK',
  rev: 1,
  content: { id },
  listA: { list: listA, sort: sortKey(at, id) },
});

/** The promises of every store about counts over many orders. */
export function orderFiguresContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('W-01: unfinished orders are counted by state, including those that wait without a deadline', async ({ store, other }) => {
    const aged = (minutes: number) => ({ submittedAt: noon - minutes * minuteMs });
    await end(store, await put(store, 'ord_1', {}, aged(99)), noon);
    await put(store, 'ord_2', inError, aged(9));
    await put(store, 'ord_3', noDeadline, aged(3));
    await put(store, 'ord_4', { ...noDeadline, suspended: true }, aged(2));
    await put(store, 'ord_5', {}, aged(2));
    await put(store, 'ord_6', pending, aged(1));
    assert.deepEqual(await other.countUnfinished(100), { pending: 1, processing: 3, error: 1, oldestAt: noon - 9 * minuteMs });
  });

  it('all counts of a store without orders are zero', async ({ store }) => {
    assert.deepEqual(await store.countUnfinished(100), { pending: 0, processing: 0, error: 0, oldestAt: null });
    assert.equal(await store.countFinished(noon, noon + minuteMs, 100), 0);
  });

  it('an order that is claimed or suspended moves from one count to another', async ({ store }) => {
    const waiting = await put(store, 'ord_1', pending);
    const claimed = { ...waiting, processState: 'Processing', rev: 2 } as const;
    await store.update(claimed, waiting, alone);
    assert.partialDeepStrictEqual(await store.countUnfinished(100), { pending: 0, processing: 1, error: 0 });
    const suspended = { ...claimed, ...noDeadline, suspended: true, rev: 3 };
    await store.update(suspended, claimed, alone);
    assert.partialDeepStrictEqual(await store.countUnfinished(100), { pending: 0, processing: 1, error: 0 });
    await store.update({ ...suspended, ...inError, rev: 4 }, suspended, alone);
    assert.partialDeepStrictEqual(await store.countUnfinished(100), { pending: 0, processing: 0, error: 1 });
  });

  it('each count stops at its limit', async ({ store }) => {
    for (let index = 0; index < 5; index++) {
      await put(store, `ord_${index}`, index < 3 ? inError : {});
      await store.putDocument(task(`t${index}`, lists.openTasks, noon + index), 0);
    }
    assert.partialDeepStrictEqual(await store.countUnfinished(2), { error: 2, processing: 2 });
    assert.equal(await store.countListed({ list: lists.openTasks }, 4), 4);
  });

  it('finished orders are counted by the time of their end', async ({ store, other }) => {
    const ends = [noon - 1, noon, noon + minuteMs - 1, noon + minuteMs, noon + 3_600_000];
    for (const [index, at] of ends.entries()) await end(store, await put(store, `ord_${index}`), at);
    const count = (from: number, before: number, limit = 100) => other.countFinished(from, before, limit);
    assert.equal(await count(noon, noon + minuteMs), 2);
    assert.equal(await count(noon + minuteMs, noon + 2 * minuteMs), 1);
    assert.equal(await count(noon - minuteMs, noon + 86_400_000), 5);
    assert.equal(await count(noon - minuteMs, noon + 86_400_000, 3), 3);
  });

  it('the entries of a part of a list are counted', async ({ store, other }) => {
    for (let index = 0; index < 9; index++) await store.putDocument(task(`t${index}`, lists.openTasks, noon + index), 0);
    await store.putDocument(task('done', lists.doneTasks('2026-01-01'), noon), 0);
    assert.equal(await other.countListed({ list: lists.openTasks }, 100), 9);
    assert.equal(await other.countListed({ list: lists.openTasks, to: timeStart(noon + 4) }, 100), 4);
    assert.equal(await other.countListed({ list: lists.openTasks, from: timeStart(noon + 4) }, 100), 5);
    assert.equal(await other.countListed({ list: lists.tasksOfPerson('ann') }, 100), 0);
  });
}
