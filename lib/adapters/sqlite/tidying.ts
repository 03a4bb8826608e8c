import type { Clock } from '#ports/clock';
import type { Database } from './database.ts';

const dayMs = 86_400_000;
/** What is removed at once, so that nothing else waits for long. */
const portion = 1000;

/** For so long the embedded store keeps what no order keeps. */
const keptFor = {
  /** Unread messages, on whichever queue: as long as SQS may keep them. */
  messagesMs: 14 * dayMs,
  /** Announcements; those of an order are forgotten with it, if that is sooner. */
  announcementsMs: 90 * dayMs,
  /** And no more than so many of them. */
  announcements: 100_000,
} as const;

/** Removes what nobody needs any more, in portions: what DynamoDB and SQS remove by themselves, and old announcements. */
export function sqliteTidying(database: Database, clock: Clock): () => Promise<void> {
  const removeDocuments = database.prepare(
    `DELETE FROM documents WHERE (collection, id) IN (SELECT collection, id FROM documents WHERE expiresAt < ? LIMIT ${portion})`,
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
    await inPortions(() => removeAnnouncements.run(now - keptFor.announcementsMs, keptFor.announcements));
    for (let queue: string | null = ''; queue !== null; ) {
      queue = (nextQueue.get(queue) as { readonly queue: string | null }).queue;
      const name = queue;
      if (name !== null) await inPortions(() => removeMessages.run(name, now - keptFor.messagesMs));
    }
  };
}
