import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StoreUnavailableError } from '#ports/errors';
import type { DataFile } from './data-file.ts';
import { isBusy, isSqlite } from './sqlite-errors.ts';

/** Code that runs inside a transaction. It is synchronous, so that no other code runs in between. */
export type Operation<T> = () => T;

interface Job {
  readonly operation: Operation<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

const groupMax = 1000;
/**
 * The longest random pause before a group of writes is tried again, if another process of the same folder holds the write lock. That
 * process holds the lock for a few milliseconds at most.
 */
const busyRetryMaxMs = 8;

/** Commits the writes of one iteration of the event loop together, at most `groupMax`. If a group fails, each write is tried alone. */
export class GroupCommit {
  private readonly connection: DatabaseSync;
  private readonly file: DataFile;
  private readonly begin: StatementSync;
  private readonly commit: StatementSync;
  private readonly rollback: StatementSync;
  private readonly commitListeners: (() => void)[] = [];
  private readonly rollbackListeners: (() => void)[] = [];
  private jobs: Job[] = [];
  private isScheduled = false;
  private isClosed = false;

  constructor(connection: DatabaseSync, file: DataFile) {
    this.connection = connection;
    this.file = file;
    this.begin = connection.prepare('BEGIN IMMEDIATE');
    this.commit = connection.prepare('COMMIT');
    this.rollback = connection.prepare('ROLLBACK');
  }

  write<T>(operation: Operation<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.jobs.push({ operation, resolve, reject });
      this.schedule();
    });
  }

  onCommit(listener: () => void): void {
    this.commitListeners.push(listener);
  }

  onRollback(listener: () => void): void {
    this.rollbackListeners.push(listener);
  }

  /** Waits for the writes that have begun, then closes the connection. Later writes are rejected. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    while (this.jobs.length > 0) await new Promise((resolve) => setImmediate(resolve));
    this.isClosed = true;
    this.connection.close();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.isScheduled = false;
    const group = this.jobs.splice(0, groupMax);
    if (group.length === 0) return;
    const gone = this.file.gone();
    if (this.isClosed || gone) return rejectAll(group, gone ?? new StoreUnavailableError('The store is closed.', { fatal: true }));
    try {
      this.file.ensureInPlace();
      this.begin.run();
    } catch (error) {
      if (!isBusy(error)) return rejectAll(group, this.file.unavailable(error));
      this.jobs = [...group, ...this.jobs];
      this.isScheduled = true;
      setTimeout(() => this.flush(), 1 + Math.random() * busyRetryMaxMs);
      return;
    }
    if (this.jobs.length > 0) this.schedule();
    this.runGroup(group);
  }

  /** Runs the operations in the transaction that has begun, commits it, and answers the writers. */
  private runGroup(group: readonly Job[]): void {
    const results: unknown[] = [];
    try {
      for (const { operation } of group) results.push(operation());
      this.commit.run();
    } catch (error) {
      if (this.connection.isTransaction) this.rollback.run();
      for (const listener of this.rollbackListeners) listener();
      if (group.length === 1) return rejectAll(group, isSqlite(error) ? this.file.unavailable(error) : error);
      for (const job of group) this.runAlone(job);
      return;
    }
    for (const listener of this.commitListeners) listener();
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as never);
  }

  /** Runs one job of a failed group alone, so that one failure does not affect the others. */
  private runAlone(job: Job): void {
    try {
      this.begin.run();
    } catch (error) {
      if (!isBusy(error)) return rejectAll([job], this.file.unavailable(error));
      this.jobs.push(job);
      return this.schedule();
    }
    this.runGroup([job]);
  }
}

const rejectAll = (group: readonly Job[], error: unknown): void => {
  for (const { reject } of group) reject(error);
};
