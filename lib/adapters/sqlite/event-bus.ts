import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Announcement, Publisher } from '#ports/event-bus';
import type { DetailType } from '#ports/records';
import type { Database } from './database.ts';

export interface Published extends Announcement {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly publishedAt: number;
}

export interface SqlitePublisher extends Publisher {
  publishWithin(announcements: readonly Announcement[]): void;
  /** Returns the announcements after a sequence number, oldest first: the local stand-in for a subscription. */
  published(afterSeq: number, limit: number): readonly Published[];
}

/** The event bus as a table. The table ignores an announcement whose id it already has. */
export function sqlitePublisher(database: Database, clock: Clock): SqlitePublisher {
  const insert = database.prepare(
    'INSERT INTO announcements (id, detailType, detail, publishedAt) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const select = database.prepare('SELECT seq, id, detailType, detail, publishedAt FROM announcements WHERE seq > ? ORDER BY seq LIMIT ?');

  const publishWithin = (announcements: readonly Announcement[]): void => {
    for (const { id, detailType, detail } of announcements) insert.run(id, detailType, JSON.stringify(detail), clock.now());
  };
  return {
    publishWithin,
    async publish(announcements) {
      if (announcements.length > 0) await database.write(() => publishWithin(announcements));
      return { failed: [] };
    },
    published: (afterSeq, limit) =>
      (select.all(afterSeq, limit) as { seq: number; id: string; detailType: DetailType; detail: string; publishedAt: number }[]).map(
        (row) => ({ ...row, detail: JSON.parse(row.detail) as JsonObject }),
      ),
  };
}
