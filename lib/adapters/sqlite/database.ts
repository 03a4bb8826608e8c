import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { StoreUnavailableError } from '#ports/errors';
import { connect } from './connection.ts';
import { watchDataFile } from './data-file.ts';
import { GroupCommit, type Operation } from './group-commit.ts';
import { isSqlite } from './sqlite-errors.ts';

/** A prepared statement. Errors of SQLite become StoreUnavailableError here, too. */
export interface Statement {
  get(...values: SQLInputValue[]): ReturnType<StatementSync['get']>;
  all(...values: SQLInputValue[]): ReturnType<StatementSync['all']>;
  run(...values: SQLInputValue[]): ReturnType<StatementSync['run']>;
  /** Yields row after row, and reads no more of them than are taken. */
  iterate(...values: SQLInputValue[]): Iterable<ReturnType<StatementSync['get']>>;
}

/** One SQLite file for all embedded ports. `write` commits in groups. */
export interface Database {
  /**
   * Runs the operation in a transaction and resolves when it is synced to disk. The writes of one iteration of the event loop share a
   * commit, so one sync serves many orders.
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

/**
 * Opens a database, and creates the file if it does not exist.
 *
 * @throws SetupError if the file is not usable.
 */
export function openDatabase(path: string): Database {
  const connection = connect(path);
  const file = watchDataFile(path);
  const commits = new GroupCommit(connection, file);
  const statements = new Map<string, Statement>();

  const guarded =
    <V extends unknown[], T>(work: (...values: V) => T) =>
    (...values: V): T => {
      try {
        return work(...values);
      } catch (error) {
        throw isSqlite(error) ? file.unavailable(error) : error;
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
      *iterate(...values: SQLInputValue[]) {
        const rows = guarded(() => prepared.iterate(...values))();
        try {
          for (let row = guarded(() => rows.next())(); !row.done; row = guarded(() => rows.next())()) yield row.value;
        } finally {
          rows.return?.();
        }
      },
    };
    statements.set(sql, statement);
    return statement;
  };

  return {
    prepare,
    write: (operation) => commits.write(operation),
    onCommit: (listener) => commits.onCommit(listener),
    onRollback: (listener) => commits.onRollback(listener),
    onGone: (listener) => file.onGone(listener),
    async close() {
      await commits.close();
      file.stopWatching();
    },
  };
}
