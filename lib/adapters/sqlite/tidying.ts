import type { Clock } from '#ports/clock';
import { dayMs } from '#ports/util/days';
import type { Database } from './database.ts';

/** Rows removed in one transaction, so that other writes do not wait long. */
const portion = 1000;

/** The times for which data without an order is kept, and the number of announcements. */
const keptFor = {
  /** Messages that nobody has received since they became visible: the maximum retention of SQS. */
  messagesMs: 14 * dayMs,
  /** Announcements. Those of an order are deleted with it, if that is sooner. */
  announcementsMs: 90 * dayMs,
  /** The maximum number of announcements. */
  announcements: 100_000,
} as const;

/** Removes expired data in portions: the data that DynamoDB and SQS remove by themselves, and old announcements. */
export function sqliteTidying(database: Database, clock: Clock): () => Promise<void> {
  const removeDocuments = database.prepare(
    `DELETE FROM documents WHERE (collection, id) IN (SELECT collection, id FROM documents WHERE expiresAt < ? LIMIT ${portion})`,
  );
  const removeTallies = database.prepare(
    `DELETE FROM tallies WHERE (collection, id) IN (SELECT collection, id FROM tallies WHERE expiresAt < ? LIMIT ${portion})`,
  );
  const nextQueue = database.prepare('SELECT min(queue) AS queue FROM messages WHERE queue > ?');
  const removeMessages = database.prepare(
    `DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE queue = ? AND visibleAt < ? ORDER BY visibleAt LIMIT ${portion})`,
  );
  const removeAnnouncements = database.prepare(
    `DELETE FROM announcements WHERE seq IN (SELECT seq FROM announcements ORDER BY seq LIMIT ${portion})
     AND (publishedAt < ? OR seq <= (SELECT max(seq) FROM announcements) - ?)`,
  );

  async function inPortions(remove: () => { readonly changes: number | bigint }): Promise<void> {
    while (Number(await database.write(() => remove().changes)) === portion);
  }

  return async () => {
    const now = clock.now();
    await inPortions(() => removeDocuments.run(now));
    await inPortions(() => removeTallies.run(now));
    await inPortions(() => removeAnnouncements.run(now - keptFor.announcementsMs, keptFor.announcements));
    for (let queue: string | null = ''; queue !== null; ) {
      queue = (nextQueue.get(queue) as { readonly queue: string | null }).queue;
      const name = queue;
      if (name !== null) await inPortions(() => removeMessages.run(name, now - keptFor.messagesMs));
    }
  };
}
