import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Database } from '#adapters/sqlite/database';
import { sqliteListing } from '#adapters/sqlite/listing';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { lookedMax } from '#ports/list-filters';
import { dataFile, temporaryFolder } from '../support/folders.ts';
import { idsOf, noon, put } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';

test('S23: a filter without an index examines 1,000 orders a page, and the next page continues there', async (context) => {
  const { store, database } = openEmbedded(':memory:', { clock: manualClock() });
  context.after(() => database.close());
  await Promise.all(
    listOf(1001, (index) => put(store, `o${index}`, index === 0 ? { outcome: 'completed' } : {}, { submittedAt: noon + index })),
  );
  const first = await store.list({ outcome: 'completed' }, undefined, 20);
  assert.deepEqual([idsOf(first), first.next?.orderId], [[], 'o1']);
  const second = await store.list({ outcome: 'completed' }, first.next, 20);
  assert.deepEqual([idsOf(second), second.next], [['o0'], undefined]);
});

test('A3: a page of a client whose filter finds nothing examines 1,000 of its finished orders, not all of them', async (context) => {
  const folder = temporaryFolder();
  const { store, database } = openEmbedded(folder.path, { clock: manualClock() });
  const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
  await Promise.all(listOf(2500, (index) => put(store, `o${index}`, finished, { submittedAt: noon + index })));
  await database.close();
  const connection = new DatabaseSync(dataFile(folder));
  context.after(() => {
    connection.close();
    folder.remove();
  });
  const { list } = sqliteListing({ prepare: (sql: string) => connection.prepare(sql) } as unknown as Database);
  const examined = examinedOn(connection);
  for (const filter of [{ fault: 'NoSuchFault' }, { outcome: 'terminated' }, { workflow: 'none' }] as const) {
    examined.clear();
    const page = await list({ client: 'shop', ...filter }, undefined, 20);
    assert.deepEqual([page.items, page.next?.orderId], [[], 'o1500'], JSON.stringify(filter));
    // SQLite reads one order ahead, to sort orders of the same millisecond.
    assert.ok(examined.size <= lookedMax + 1, `${examined.size} orders examined`);
  }
});

test('A3: a page of unfinished orders examines no finished orders, however many there are', async (context) => {
  const { store, database } = openEmbedded(':memory:', { clock: manualClock() });
  context.after(() => database.close());
  const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
  const isAtWork = (index: number): boolean => index < 2 || index === 700;
  const states = listOf(1500, (index) => (isAtWork(index) ? ({ processState: 'Processing' } as const) : finished));
  await Promise.all(states.map((state, index) => put(store, `o${index}`, state, { submittedAt: noon + index })));
  const first = await store.list({ state: 'Processing' }, undefined, 2);
  const second = await store.list({ state: 'Processing', client: 'shop', workflow: 'none' }, first.next, 2);
  const third = await store.list({ state: 'Processing' }, first.next, 2);
  assert.deepEqual(
    [idsOf(first), idsOf(second), second.next, idsOf(third), third.next],
    [['o700', 'o1'], [], undefined, ['o0'], undefined],
  );
});

/** Returns the orders from whose heads this connection has extracted a value: those that a query examines. */
function examinedOn(connection: DatabaseSync): Set<string> {
  const examined = new Set<string>();
  connection.function('json_extract', (text, path) => {
    const head = JSON.parse(String(text));
    examined.add(head.orderId);
    const names = String(path).slice(2).split('.');
    return names.reduce((value, name) => value?.[name] ?? null, head);
  });
  return examined;
}
