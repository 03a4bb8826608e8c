import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { SetupError } from '#ports/errors';
import { changes, schemaVersion } from './schema.ts';
import { corrupt, damageRemedy, errcode, full, isBusy, notADatabase } from './sqlite-errors.ts';

/**
 * Opens a data file with the current schema, or `:memory:`.
 *
 * @throws SetupError if this Node has no SQLite, or if the file is not usable, is damaged, belongs to another program, or was written by a
 * newer version.
 */
export function connect(path: string): DatabaseSync {
  try {
    // A process that closes the database before it ends removes the file `-wal`.
    const wasLeftOpen = existsSync(`${path}-wal`);
    if (path !== ':memory:') makeFile(path);
    const connection = new (sqlite().DatabaseSync)(path, { timeout: 50 });
    // The version is checked before any change, even of the journal mode: the file may belong to another program.
    retryBusy(() => void checkedVersion(connection, path));
    // The change to WAL can meet a process that opens the same new folder, and SQLite does not wait for it.
    retryBusy(() => connection.exec('PRAGMA journal_mode = WAL'));
    connection.exec(
      'PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;',
    );
    if (wasLeftOpen) retryBusy(() => ensureWhole(connection));
    prepareSchema(connection, path);
    return connection;
  } catch (error) {
    if (error instanceof SetupError) throw error;
    if (errcode(error) === notADatabase)
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

/** Returns Node's SQLite. An import statement would fail in a Node without SQLite, in which rehearsals must still run. */
function sqlite(): typeof import('node:sqlite') {
  const found = process.getBuiltinModule('node:sqlite');
  if (found) return found;
  throw new SetupError(
    `This Node (${process.version}) has no node:sqlite, which crashTest, startSystem and "redress start" need.`,
    'Use an official build of Node 22.18 or newer, without --no-experimental-sqlite.',
  );
}

/** Checks a file that another process left open or uses now. Damaged files are refused. */
function ensureWhole(connection: DatabaseSync): void {
  const [found] = Object.values(connection.prepare('PRAGMA quick_check(1)').get() ?? {});
  if (found !== 'ok') throw Object.assign(new Error(String(found).replaceAll(/\s+/g, ' ')), { errcode: corrupt });
}

/**
 * Creates folder and file for their owner alone, because they hold orders and their secrets. Files that SQLite adds have the same rights.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

/** Returns the version in the file's header: 0 for a new file. Throws for a newer version, and for version 0 with tables. */
function checkedVersion(connection: DatabaseSync, path: string): number {
  // One statement, because another process may be creating the tables of a new file now.
  const { version, inUse } = connection
    .prepare('SELECT user_version AS version, EXISTS (SELECT 1 FROM sqlite_schema) AS inUse FROM pragma_user_version')
    .get() as { version: number; inUse: number };
  if (version > schemaVersion)
    throw new SetupError(
      `The data folder ${dirname(path)} was written by a newer version of redress: its schema version is ${version}, and this one reads at most ${schemaVersion}.`,
      'Update redress, or choose another folder with REDRESS_DATA.',
    );
  if (version === 0 && inUse)
    throw new SetupError(`The file ${path} belongs to another program.`, 'Choose another folder with REDRESS_DATA.');
  return version;
}

function prepareSchema(connection: DatabaseSync, path: string): void {
  retryBusy(() => connection.exec('BEGIN IMMEDIATE'));
  try {
    const version = checkedVersion(connection, path);
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
