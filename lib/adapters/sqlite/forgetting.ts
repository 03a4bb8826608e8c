import type { Store } from '#ports/store';
import type { Database } from './database.ts';

/** Finished orders read in one transaction, including those that are kept for their callers. */
const portionSize = 500;

type Place = readonly [finishedAt: number, id: number];

interface Finished {
  readonly id: number;
  readonly orderId: string;
  readonly finishedAt: number;
  /** 1 if the calling order still exists: it may compensate this one, or request its answer. */
  readonly isKept: number;
}

/** Deletes finished orders with all their records. A called order is deleted after its caller. */
export function sqliteForgetting(database: Database): Pick<Store, 'forget' | 'hasForgotten'> {
  const selectFinished = database.prepare(
    `SELECT o.id, o.orderId, s.finishedAt, EXISTS (
       SELECT 1 FROM orders c WHERE c.orderId = CASE WHEN json_valid(o.record) THEN json_extract(o.record, '$.caller.orderId') END
     ) AS isKept
     FROM states s JOIN orders o ON o.id = s.id
     WHERE s.finishedAt < ? AND (s.finishedAt, s.id) > (?, ?) AND s.processState = 'Processed' AND s.worklist IS NULL
     ORDER BY s.finishedAt, s.id LIMIT ${portionSize}`,
  );
  const deletes = [
    'DELETE FROM states WHERE id = (SELECT id FROM orders WHERE orderId = ?)',
    'DELETE FROM orders WHERE orderId = ?',
    'DELETE FROM pages WHERE orderId = ?',
    'DELETE FROM overflow WHERE orderId = ?',
    'DELETE FROM intents WHERE orderId = ?',
    'DELETE FROM undoPages WHERE orderId = ?',
    "DELETE FROM documents WHERE collection = 'ORDER#' || ?",
    // Ids of announcements begin with the order's id and continue with "@", "#" or "/".
    `DELETE FROM announcements WHERE (id >= ?1 || '@' AND id < ?1 || 'A') OR (id >= ?1 || '#' AND id < ?1 || '$') OR (id >= ?1 || '/' AND id < ?1 || '0')`,
  ].map((sql) => database.prepare(sql));
  const note = database.prepare(
    "INSERT INTO documents (collection, id, rev, record) VALUES ('STORE', 'FORGOTTEN', 1, '{}') ON CONFLICT DO NOTHING",
  );
  const selectNote = database.prepare("SELECT 1 FROM documents WHERE collection = 'STORE' AND id = 'FORGOTTEN'");

  const forgetPortion = (finishedBefore: number, after: Place, limit: number) =>
    database.write(() => {
      const found = selectFinished.all(finishedBefore, ...after) as unknown as readonly Finished[];
      const forgotten = found.filter(({ isKept }) => isKept === 0).slice(0, limit);
      for (const { orderId } of forgotten) for (const remove of deletes) remove.run(orderId);
      if (forgotten.length > 0) note.run();
      const last = found.length < portionSize ? undefined : found.at(-1);
      return { count: forgotten.length, ...(last ? { next: [last.finishedAt, last.id] as const } : {}) };
    });

  /** Deletes orders that finished before a time, except for those whose callers still exist. */
  async function forgetOnce(finishedBefore: number, limit: number): Promise<number> {
    let count = 0;
    for (let after: Place | undefined = [0, 0]; after && count < limit; ) {
      const portion: { readonly count: number; readonly next?: Place } = await forgetPortion(finishedBefore, after, limit - count);
      count += portion.count;
      after = portion.next;
    }
    return count;
  }

  return {
    async forget(finishedBefore, limit) {
      let count = 0;
      // Each round finds the called orders of the callers that the round before deleted.
      for (let found = -1; found !== 0 && count < limit; count += found) found = await forgetOnce(finishedBefore, limit - count);
      return count;
    },
    hasForgotten: async () => selectNote.get() !== undefined,
  };
}
