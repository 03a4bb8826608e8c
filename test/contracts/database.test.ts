import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { type Database, openDatabase } from '#adapters/sqlite/database';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { changes, schemaVersion } from '#adapters/sqlite/schema';
import { sqliteStore } from '#adapters/sqlite/store';
import { manualClock } from '#ports/clock';
import { SetupError, StoreUnavailableError } from '#ports/errors';
import { orderList, servedBy } from '#ports/list-filters';
import { dataFile, type TemporaryFolder, temporaryFolder } from '../support/folders.ts';
import { noon, orderRecord, stateRecord } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { everyFilter } from './list-filters.ts';

/** A folder that is removed after the test. */
function folderFor(t: TestContext): TemporaryFolder {
  const folder = temporaryFolder();
  t.after(() => folder.remove());
  return folder;
}

const putClient = (database: Database, id: string) =>
  database.write(() => void database.prepare('INSERT INTO clients (id, record) VALUES (?, ?)').run(id, '{}'));
const clientsIn = (database: Database): string[] =>
  database
    .prepare('SELECT id FROM clients ORDER BY id')
    .all()
    .map((row) => (row as { id: string }).id);

test('writes in one turn of the event loop are one commit, and their results keep their order', async () => {
  const database = openDatabase(':memory:');
  let commits = 0;
  database.onCommit(() => (commits += 1));
  const answers = await Promise.all(listOf(100, (index) => database.write(() => index)));
  assert.deepEqual([commits, answers], [1, listOf(100, (index) => index)]);
});

test('more writes in one turn of the event loop than fit into one commit are all written', async () => {
  const database = openDatabase(':memory:');
  await Promise.all(listOf(2500, (index) => putClient(database, `c${index}`)));
  assert.equal(clientsIn(database).length, 2500);
});

test('S25: a failing write rolls back only itself, even after it wrote rows', async () => {
  const database = openDatabase(':memory:');
  const neighbours = [putClient(database, 'a'), putClient(database, 'b')];
  const failing = database.write(() => {
    database.prepare('INSERT INTO clients (id, record) VALUES (?, ?)').run('half', '{}');
    throw new TypeError('a bug');
  });
  const violating = putClient(database, 'a');
  const later = putClient(database, 'c');
  await assert.rejects(failing, new TypeError('a bug'));
  await assert.rejects(violating);
  await Promise.all([...neighbours, later]);
  assert.deepEqual(clientsIn(database), ['a', 'b', 'c']);
});

test('a listener learns of every commit and every rollback', async () => {
  const database = openDatabase(':memory:');
  const heard: string[] = [];
  database.onCommit(() => heard.push('commit'));
  database.onRollback(() => heard.push('rollback'));
  await putClient(database, 'a');
  await assert.rejects(database.write(() => assert.fail()));
  assert.deepEqual(heard, ['commit', 'rollback']);
});

test("a commit that meets another process's lock waits and then succeeds", async (t) => {
  const folder = folderFor(t);
  const database = openDatabase(dataFile(folder));
  const elsewhere = new DatabaseSync(dataFile(folder));
  elsewhere.exec("BEGIN IMMEDIATE; INSERT INTO clients (id, record) VALUES ('there', '{}')");
  const writes = [putClient(database, 'a'), putClient(database, 'b')];
  let done = false;
  void Promise.all(writes).then(() => (done = true));
  // The first attempt runs into the lock; the second one comes from the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(done, false);

  const more = putClient(database, 'c');
  elsewhere.exec('COMMIT');
  await Promise.all([...writes, more]);
  assert.deepEqual(clientsIn(database), ['a', 'b', 'c', 'there']);
  elsewhere.close();
  await database.close();
});

test('S2: when two processes write to one order in one file, no write is lost', async (t) => {
  const folder = folderFor(t);
  const { store, database } = openEmbedded(folder.path, { clock: manualClock() });
  await store.create(orderRecord('o1'), stateRecord('o1'), { messages: [], announcements: [] });
  const writer = new URL('../support/writer.ts', import.meta.url);
  const processes = listOf(2, () =>
    spawn(process.execPath, ['-C', 'redress-source', writer.pathname, folder.path, 'o1', '100'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  const codes = await Promise.all(processes.map((each) => once(each, 'exit')));
  assert.deepEqual(
    codes.map(([code]) => code),
    [0, 0],
  );
  assert.deepEqual([(await store.head('o1'))?.rev, (await store.head('o1'))?.failureCount], [201, 200]);
  await database.close();
});

test('A9: when one process has erased the secrets of an order, no process with the same file loads them from memory', async (t) => {
  const folder = folderFor(t);
  const [eraser, reader] = [1, 2].map(() => openEmbedded(folder.path, { clock: manualClock() })) as [Embedded, Embedded];
  const order = orderRecord('o1', { key: 'wrapped' });
  await eraser.store.create(order, stateRecord('o1'), { messages: [], announcements: [] });
  assert.equal((await reader.store.load('o1'))?.order.key, 'wrapped');

  const { key: _, ...rest } = order;
  await eraser.store.eraseSecrets({ ...rest, erasedAt: noon }, []);
  const { order: erased } = (await reader.store.load('o1')) ?? {};
  assert.deepEqual([erased?.key, erased?.erasedAt], [undefined, noon]);
  await Promise.all([eraser.database.close(), reader.database.close()]);
});

test('written data survives a restart', async (t) => {
  const folder = folderFor(t);
  const first = openDatabase(dataFile(folder));
  await putClient(first, 'a');
  await first.close();
  const second = openDatabase(dataFile(folder));
  assert.deepEqual(clientsIn(second), ['a']);
  await second.close();
});

test('A3: every list of orders reads one index from its cursor on, and SQLite sorts only orders that came in the same millisecond', async () => {
  const database = openDatabase(':memory:');
  const queries: string[] = [];
  const prepare: Database['prepare'] = (sql) => {
    queries.push(sql);
    return database.prepare(sql);
  };
  const store = sqliteStore({ ...database, prepare });
  for (const filter of everyFilter) {
    for (const after of [undefined, { submittedAt: noon, orderId: 'o1' }]) {
      await store.list(filter, after, 10);
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${queries.at(-1)}`).all() as { detail: string }[];
      const [first, second, third, ...others] = plan.map(({ detail }) =>
        detail.replace(/^USE TEMP B-TREE FOR .*LAST.* TERM OF ORDER BY$/, 'sorts ties'),
      );
      const { index } = servedBy(orderList, { ...filter });
      assert.match(String(first), plans[index], JSON.stringify(filter));
      assert.match(String(second), /^SEARCH . USING INTEGER PRIMARY KEY \(rowid=\?\)$/);
      assert.deepEqual([third, others], ['sorts ties', []]);
    }
  }
  await database.close();
});

const between = String.raw`[<>]\? AND \w+[<>]\?`;
const plans = {
  byReference: new RegExp(`^SEARCH o USING INDEX orders_by_reference \\(client=\\? AND reference=\\? AND submittedAt${between}\\)$`),
  byClient: new RegExp(`^SEARCH o USING INDEX orders_by_client \\(client=\\? AND submittedAt${between}\\)$`),
  byDay: new RegExp(`^SEARCH o USING INDEX orders_by_time \\(submittedAt${between}\\)$`),
  inError: new RegExp(`^SEARCH s USING (COVERING )?INDEX states_in_error \\(errorListedAt${between}\\)$`),
};

test('closing a database waits for writes that have begun, and later writes are refused', async (t) => {
  const folder = folderFor(t);
  const database = openDatabase(dataFile(folder));
  const begun = putClient(database, 'a');
  await database.close();
  await begun;
  await assert.rejects(putClient(database, 'b'), StoreUnavailableError);
  await database.close();
});

test('X-49: a deleted data file gets no writes, and the listener is notified once', async (t) => {
  const folder = folderFor(t);
  const database = openDatabase(dataFile(folder));
  const notified: StoreUnavailableError[] = [];
  database.onGone((error) => notified.push(error));
  await putClient(database, 'a');
  rmSync(dataFile(folder));
  for (const id of ['b', 'c']) {
    await assert.rejects(
      putClient(database, id),
      (error: unknown) => error instanceof StoreUnavailableError && error.fatal && /is gone/.test(error.message),
    );
  }
  assert.equal(notified.length, 1);
  await database.close();
});

test('X-49: another file at the path of the deleted one is not mistaken for it', async (t) => {
  const folder = folderFor(t);
  const database = openDatabase(dataFile(folder));
  rmSync(dataFile(folder));
  const other = openDatabase(dataFile(folder));
  await assert.rejects(putClient(database, 'a'), (error: unknown) => error instanceof StoreUnavailableError && error.fatal);
  assert.deepEqual(clientsIn(other), []);
  await database.close();
  await other.close();
});

/** A folder that cannot be used, and the essential words of the message with its remedy. */
const unusable: readonly (readonly [what: string, prepare: (file: string) => void, message: RegExp])[] = [
  [
    'was written by a newer version',
    (file) => new DatabaseSync(file).exec(`CREATE TABLE t (a); PRAGMA user_version = ${schemaVersion + 1}`),
    new RegExp(
      `written by a newer version of redress: its schema version is ${schemaVersion + 1}, and this one reads at most ${schemaVersion}\\.`,
    ),
  ],
  ["is another program's database", (file) => new DatabaseSync(file).exec('CREATE TABLE theirs (a)'), /belongs to another program/],
  [
    'is not a database',
    (file) => writeFileSync(file, 'Dear diary, this is no database at all. '.repeat(200)),
    /is not a data file of redress/,
  ],
  ['is a folder', (file) => mkdirSync(file), /cannot be used/],
];

const contentOf = (file: string): Buffer | undefined => (statSync(file).isFile() ? readFileSync(file) : undefined);

for (const [what, prepare, message] of unusable) {
  test(`a data file that ${what} is refused with a remedy, and stays as it is`, (t) => {
    const folder = folderFor(t);
    const file = dataFile(folder);
    prepare(file);
    const before = contentOf(file);
    assert.throws(
      () => openDatabase(file),
      (error: unknown) => {
        assert.ok(error instanceof SetupError);
        assert.match(error.message, message);
        assert.match(error.remedy, /REDRESS_DATA/);
        return true;
      },
    );
    assert.deepEqual(contentOf(file), before);
  });
}

test('a data file of an older version is migrated and keeps its data', async (t) => {
  const folder = folderFor(t);
  const older = new DatabaseSync(dataFile(folder));
  older.exec(`${changes[0]}; PRAGMA user_version = 1`);
  older.exec(`INSERT INTO clients VALUES ('a', '{"id":"a","responseChannels":[],"senders":[]}')`);
  older.close();
  const { store, database } = openEmbedded(folder.path, { clock: manualClock() });
  assert.equal((await store.client('a'))?.id, 'a');
  assert.equal((await store.recordIntent({ orderId: 'o', idempotencyKey: 'k', requestId: 'r' })).outcome, 'recorded');
  assert.equal(await store.undoPage('o', 1), undefined);
  await database.close();
});

test('a data folder that cannot be created is refused with a remedy', (t) => {
  const folder = folderFor(t);
  const file = join(folder.path, 'a file');
  writeFileSync(file, '');
  assert.throws(
    () => openDatabase(join(file, 'data', 'redress.sqlite')),
    (error: unknown) => error instanceof SetupError && /cannot be used/.test(error.message) && /REDRESS_DATA/.test(error.remedy),
  );
});

test('a missing data folder is created, and its files are private to their owner', async (t) => {
  const folder = folderFor(t);
  const { database } = openEmbedded(join(folder.path, 'some', 'where'), { clock: manualClock() });
  await putClient(database, 'a');
  for (const end of ['', '-wal', '-shm']) {
    assert.equal(statSync(join(folder.path, 'some', 'where', `redress.sqlite${end}`)).mode & 0o777, 0o600, end);
  }
  await database.close();
});
