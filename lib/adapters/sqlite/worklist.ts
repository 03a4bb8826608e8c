import type { Store } from '#ports/store';
import type { Database } from './database.ts';

/** Finds orders that are due: by the index, and by a walk through all orders. */
export function sqliteWorklist(database: Database): Pick<Store, 'due' | 'sweep'> {
  const selectDue = database.prepare(
    'SELECT o.orderId FROM states s JOIN orders o ON o.id = s.id WHERE s.worklist = ? AND s.shard = ? AND s.worklistAt <= ? ORDER BY s.worklistAt LIMIT ?',
  );
  const selectSwept = database.prepare(
    `SELECT o.id, o.orderId, s.processState = 'Processed' AND s.worklist IS NULL AS isOver
     FROM orders o JOIN states s ON s.id = o.id WHERE o.id > ? ORDER BY o.id LIMIT ?`,
  );

  return {
    due: async (worklist, shard, until, limit) => idsOf(selectDue.all(worklist, shard, until, limit)),

    async sweep(after, limit) {
      const found = selectSwept.all(Number(after) || 0, limit) as unknown as readonly { id: number; orderId: string; isOver: number }[];
      const ids = found.filter(({ isOver }) => isOver === 0).map(({ orderId }) => orderId);
      const last = found.length === limit ? found.at(-1) : undefined;
      return { ids, ...(last ? { next: String(last.id) } : {}) };
    },
  };
}

const idsOf = (rows: readonly unknown[]): readonly string[] => rows.map((row) => (row as { orderId: string }).orderId);
