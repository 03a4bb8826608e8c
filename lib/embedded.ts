import { join } from 'node:path';
import type { Redrive } from './channel.ts';
import { type SqliteChannel, sqliteChannel } from './channels/sqlite.ts';
import type { Clock } from './clock.ts';
import { type SqlitePublisher, sqlitePublisher } from './publishers/sqlite.ts';
import type { Store } from './store.ts';
import { type Database, openDatabase } from './stores/sqlite/database.ts';
import { sqliteStore } from './stores/sqlite/store.ts';
import { sqliteTidying } from './stores/sqlite/tidying.ts';

/** Store, channel and publisher on one SQLite file. */
export interface Embedded {
  readonly database: Database;
  readonly store: Store;
  readonly channel: SqliteChannel;
  readonly publisher: SqlitePublisher;
  /** Removes what nobody needs any more; to be called now and then. */
  readonly tidy: () => Promise<void>;
}

export const dataFile = (folder: string): string => join(folder, 'redress.sqlite');

/**
 * The embedded ports in a data folder, or `:memory:`. Several processes may share a folder.
 *
 * @throws SetupError where the folder can't be used: unwritable, foreign, or written by a newer version.
 */
export function openEmbedded(
  folder: string,
  { clock, redriveOf, sendsAlong = true }: { clock: Clock; redriveOf?: (queue: string) => Redrive | undefined; sendsAlong?: boolean },
): Embedded {
  const path = folder === ':memory:' ? folder : dataFile(folder);
  const database = openDatabase(path);
  const channel = sqliteChannel(database, clock, redriveOf);
  const publisher = sqlitePublisher(database, clock);
  const sendWithin = ({ messages, announcements }: Parameters<NonNullable<Parameters<typeof sqliteStore>[1]>>[0]) => {
    publisher.publishWithin(announcements);
    return channel.sendWithin(messages);
  };
  return {
    database,
    channel,
    publisher,
    store: sqliteStore(database, sendsAlong ? sendWithin : undefined),
    tidy: sqliteTidying(database, clock),
  };
}
