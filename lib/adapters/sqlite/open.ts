import { join } from 'node:path';
import type { Clock } from '#ports/clock';
import type { Redrive } from '#ports/queues';
import type { Store } from '#ports/store';
import { type Database, openDatabase } from './database.ts';
import { type SqlitePublisher, sqlitePublisher } from './event-bus.ts';
import { keysInFile, keysInMemory, type LocalKeys } from './keys.ts';
import { type SqliteQueues, sqliteQueues } from './queues.ts';
import { sqliteStore } from './store.ts';
import { sqliteTidying } from './tidying.ts';

/** Store, queues and event bus on one SQLite file. */
export interface Embedded {
  readonly database: Database;
  readonly store: Store;
  readonly queues: SqliteQueues;
  readonly publisher: SqlitePublisher;
  readonly keys: LocalKeys;
  /** Removes expired data. To be called regularly. */
  readonly tidy: () => Promise<void>;
}

interface EmbeddedOptions {
  readonly clock: Clock;
  /** Default: for `openEmbedded` the keys of its folder, for `embeddedOn` keys that last as long as this process. */
  readonly keys?: LocalKeys;
  readonly redriveOf?: (queue: string) => Redrive | undefined;
  readonly writesAndSendsAtomically?: boolean;
}

export const dataFile = (folder: string): string => join(folder, 'redress.sqlite');

/**
 * Opens the embedded ports in a data folder, or `:memory:`. Several processes may share a folder.
 *
 * @throws SetupError if the folder is not writable, belongs to another program, or was written by a newer version.
 */
export const openEmbedded = (folder: string, options: EmbeddedOptions): Embedded =>
  embeddedOn(openEmbeddedDatabase(folder), { keys: keysFor(folder, options.clock), ...options });

/** Returns the keys of a data folder, or of `:memory:`. */
export const keysFor = (folder: string, clock: Pick<Clock, 'now'>): LocalKeys =>
  folder === ':memory:' ? keysInMemory(clock) : keysInFile(folder, clock);

/**
 * Opens the database alone.
 *
 * @throws SetupError as `openEmbedded` does.
 */
export const openEmbeddedDatabase = (folder: string): Database => openDatabase(folder === ':memory:' ? folder : dataFile(folder));

/** Returns the adapters of one process on an open database. */
export function embeddedOn(database: Database, options: EmbeddedOptions): Embedded {
  const { clock, redriveOf, keys = keysInMemory(clock), writesAndSendsAtomically = true } = options;
  const queues = sqliteQueues(database, clock, redriveOf, keys);
  const publisher = sqlitePublisher(database, clock);
  const sendWithin = ({ messages, announcements }: Parameters<NonNullable<Parameters<typeof sqliteStore>[1]>>[0]) => {
    publisher.publishWithin(announcements);
    return queues.sendWithin(messages);
  };
  return {
    database,
    queues,
    publisher,
    keys,
    store: sqliteStore(database, writesAndSendsAtomically ? sendWithin : undefined),
    tidy: sqliteTidying(database, clock),
  };
}
