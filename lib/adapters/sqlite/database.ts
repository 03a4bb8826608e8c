import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { SetupError, StoreUnavailableError } from '#ports/errors';
import { changes, schemaVersion } from './schema.ts';

/** Code that runs inside a transaction. It is synchronous, so that no other code runs in between. */
export type Operation<T> = () => T;

interface Job {
  readonly operation: Operation<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A prepared statement. Errors of SQLite become StoreUnavailableError here, too. */
export interface Statement {
  get(...values: SQLInputValue[]): ReturnType<StatementSync['get']>;
  all(...values: SQLInputValue[]): ReturnType<StatementSync['all']>;
  run(...values: SQLInputValue[]): ReturnType<StatementSync['run']>;
}

/** One SQLite file for all embedded ports. `write` commits in groups. */
export interface Database {
  /**
   * Runs the operation in a transaction and resolves when it is synced to disk. All writes of one turn of the event loop share one commit,
   * so one sync serves many orders.
   */
  write<T>(operation: Operation<T>): Promise<T>;
  /** Prepares a statement once. Outside of `write`, use it only for reading. */
  prepare(sql: string): Statement;
  /** Registers a listener for transactions on disk. It runs before the writers get their answers. */
  onCommit(listener: () => void): void;
  /** Registers a listener for transactions that were rolled back. */
  onRollback(listener: () => void): void;
  /** Registers a listener for the loss or damage of the file. It runs once. */
  onGone(listener: (error: StoreUnavailableError) => void): void;
  close(): Promise<void>;
}

const groupMax = 1000;
/** How soon an idle process notices that its file is gone. A write notices at once. */
const lookForFileEveryMs = 1000;
/** Another process of the same folder holds the write lock for a few milliseconds at most. */
const busyRetryMaxMs = 8;

export function openDatabase(path: string): Database {
  const connection = connect(path);
  const isFile = path !== ':memory:';
  const inode = isFile ? statSync(path).ino : 0;
  const statements = new Map<string, Statement>();
  const goneListeners: ((error: StoreUnavailableError) => void)[] = [];
  const commitListeners: (() => void)[] = [];
  const rollbackListeners: (() => void)[] = [];
  let jobs: Job[] = [];
  let scheduled = false;
  let gone: StoreUnavailableError | undefined;
  let closed = false;

  const guarded =
    <V extends unknown[], T>(work: (...values: V) => T) =>
    (...values: V): T => {
      try {
        return work(...values);
      } catch (error) {
        throw isSqlite(error) ? unavailable(error) : error;
      }
    };
  const prepare = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = guarded(() => connection.prepare(sql))();
    const statement: Statement = {
      get: guarded((...values: SQLInputValue[]) => prepared.get(...values)),
      all: guarded((...values: SQLInputValue[]) => prepared.all(...values)),
      run: guarded((...values: SQLInputValue[]) => prepared.run(...values)),
    };
    statements.set(sql, statement);
    return statement;
  };
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const rollback = connection.prepare('ROLLBACK');

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  function flush(): void {
    scheduled = false;
    const group = jobs.splice(0, groupMax);
    if (group.length === 0) return;
    if (closed || gone) return rejectAll(group, gone ?? new StoreUnavailableError('The store is closed.', { fatal: true }));
    try {
      ensureInPlace();
      begin.run();
    } catch (error) {
      if (isBusy(error)) {
        jobs = [...group, ...jobs];
        scheduled = true;
        setTimeout(flush, 1 + Math.random() * busyRetryMaxMs);
        return;
      }
      return rejectAll(group, unavailable(error));
    }
    if (jobs.length > 0) schedule();
    runGroup(group);
  }

  function runGroup(group: readonly Job[]): void {
    const results: unknown[] = [];
    try {
      for (const { operation } of group) results.push(operation());
      commit.run();
    } catch (error) {
      if (connection.isTransaction) rollback.run();
      for (const listener of rollbackListeners) listener();
      if (group.length === 1) return rejectAll(group, isSqlite(error) ? unavailable(error) : error);
      return group.forEach(runAlone);
    }
    for (const listener of commitListeners) listener();
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as never);
  }

  /** Runs one job of a failed group alone, so that one failure does not affect the others. */
  function runAlone(job: Job): void {
    try {
      begin.run();
    } catch (error) {
      if (!isBusy(error)) return rejectAll([job], unavailable(error));
      jobs.push(job);
      return schedule();
    }
    runGroup([job]);
  }

  /** Checks that the file is still in place. SQLite would continue to write into a deleted file, and those writes would be lost. */
  function ensureInPlace(): void {
    if (!isFile) return;
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.ino !== inode) throw new StoreUnavailableError(`The data file ${path} is gone.`, { fatal: true });
  }

  const lookingForFile = setInterval(() => {
    try {
      ensureInPlace();
    } catch (error) {
      unavailable(error);
    }
  }, lookForFileEveryMs).unref();

  function unavailable(error: unknown): StoreUnavailableError {
    const problem =
      error instanceof StoreUnavailableError
        ? error
        : new StoreUnavailableError(`The data file ${path}: ${(error as Error).message}.`, {
            fatal: isFatal(error),
            cause: error,
            remedy: remedies[errcode(error) ?? 0],
          });
    if (problem.fatal && !gone) {
      gone = problem;
      for (const listener of goneListeners) listener(problem);
    }
    return problem;
  }

  return {
    prepare,
    write: (operation) =>
      new Promise((resolve, reject) => {
        jobs.push({ operation, resolve, reject });
        schedule();
      }),
    onCommit: (listener) => void commitListeners.push(listener),
    onRollback: (listener) => void rollbackListeners.push(listener),
    onGone: (listener) => void goneListeners.push(listener),
    async close() {
      if (closed) return;
      while (jobs.length > 0) await new Promise((resolve) => setImmediate(resolve));
      closed = true;
      clearInterval(lookingForFile);
      connection.close();
    },
  };
}

const rejectAll = (group: readonly Job[], error: unknown): void => {
  for (const { reject } of group) reject(error);
};

function connect(path: string): DatabaseSync {
  try {
    // A process that stops in order removes this file.
    const wasLeftOpen = existsSync(`${path}-wal`);
    if (path !== ':memory:') makeFile(path);
    const connection = new DatabaseSync(path, { timeout: 50 });
    // Before any change, even of the journal mode: the file may belong to another program.
    retryBusy(() => void ownVersion(connection, path));
    // The change to WAL can meet a process that opens the same new folder, and SQLite does not wait for it.
    retryBusy(() => connection.exec('PRAGMA journal_mode = WAL'));
    connection.exec(
      'PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;',
    );
    if (wasLeftOpen) retryBusy(() => ensureWhole(connection));
    prepareSchema(connection, path);
    return connection;
  } catch (error) {
    if (error instanceof SetupError) throw error;
    if (errcode(error) === 26)
      throw new SetupError(`The file ${path} is not a data file of redress.`, 'Choose another folder with REDRESS_DATA.');
    if (errcode(error) === corrupt) throw new SetupError(`The data file ${path} is damaged: ${(error as Error).message}.`, damageRemedy);
    throw new SetupError(
      `The data folder ${dirname(path)} cannot be used: ${(error as Error).message}.`,
      errcode(error) === full
        ? 'Free space on its disk, or choose another folder with REDRESS_DATA.'
        : 'Make it writable, or choose another folder with REDRESS_DATA.',
    );
  }
}

/** Checks a file that another process left open or uses now. Damaged files are refused. */
function ensureWhole(connection: DatabaseSync): void {
  const [found] = Object.values(connection.prepare('PRAGMA quick_check(1)').get() ?? {});
  if (found !== 'ok') throw Object.assign(new Error(String(found).replaceAll(/\s+/g, ' ')), { errcode: corrupt });
}

/** Creates the file for its owner alone, because it holds orders and their secrets. Files that SQLite adds have the same rights. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  closeSync(openSync(path, 'a', 0o600));
}

/** Returns the version in the file's header: 0 for a new file. A file with version 0 and tables belongs to another program. */
function ownVersion(connection: DatabaseSync, path: string): number {
  // One statement, because another process may be creating the tables of a new file now.
  const { version, inUse } = connection
    .prepare('SELECT user_version AS version, EXISTS (SELECT 1 FROM sqlite_schema) AS inUse FROM pragma_user_version')
    .get() as { version: number; inUse: number };
  if (version > schemaVersion)
    throw new SetupError(
      `The data folder ${dirname(path)} was written by a newer version of redress (${version}, this one reads ${schemaVersion}).`,
      'Update redress, or choose another folder with REDRESS_DATA.',
    );
  if (version === 0 && inUse)
    throw new SetupError(`The file ${path} belongs to another program.`, 'Choose another folder with REDRESS_DATA.');
  return version;
}

function prepareSchema(connection: DatabaseSync, path: string): void {
  retryBusy(() => connection.exec('BEGIN IMMEDIATE'));
  try {
    const version = ownVersion(connection, path);
    for (const change of changes.slice(version)) connection.exec(change);
    if (version < schemaVersion) connection.exec(`PRAGMA user_version = ${schemaVersion}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function retryBusy(attempt: () => void): void {
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || tries >= 100) throw error;
    }
  }
}

const corrupt = 11;
const full = 13;
const damageRemedy =
  'Stop all processes that use it, copy its folder, and replace it with a backup. The .recover command of sqlite3 saves what is still readable.';
/** Remedies by error code. Without an entry, the caller has a better one. */
const remedies: { readonly [code: number]: string | undefined } = {
  10: 'Check the disk, its free space and the quota; then start again.',
  [corrupt]: damageRemedy,
};

const errcode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: number }).errcode;
  return code === undefined ? undefined : code & 0xff;
};
const isSqlite = (error: unknown): boolean => errcode(error) !== undefined;
const isBusy = (error: unknown): boolean => errcode(error) === 5 || errcode(error) === 6;
/** Read-only, I/O error, corrupt, cannot open, not a database. A full disk (13) is temporary, so it only refuses writes. */
const isFatal = (error: unknown): boolean => [8, 10, 11, 14, 26].includes(errcode(error) ?? 0);
