import type { OrderFigures } from '#ports/order-figures';
import type { StateHead } from '#ports/records';
import type { Database } from './database.ts';
import { columnsOf } from './lists.ts';

const states = ['Pending', 'Processing', 'Error'] as const;
const firstOf = (state: string): string => `SELECT min(id) AS id FROM states WHERE processState = '${state}' AND finishedAt IS NULL`;

/** Returns a function that counts the unfinished orders in a state, up to a limit. */
export function unfinishedCounter(database: Database): (state: string, limit: number) => number {
  const count = database.prepare(
    'SELECT count(*) AS count FROM (SELECT 1 FROM states WHERE processState = ? AND finishedAt IS NULL LIMIT ?)',
  );
  return (state, limit) => countOf(count.get(state, limit));
}

const countOf = (row: unknown): number => (row as { count: number }).count;

/** Counts orders by their indexes, each count up to its limit. */
export function sqliteOrderFigures(database: Database): OrderFigures {
  const inState = unfinishedCounter(database);
  // Orders have their ids in the order of submission.
  const selectOldest = database.prepare(
    `SELECT submittedAt FROM orders WHERE id = (SELECT min(id) FROM (${states.map(firstOf).join(' UNION ALL ')}))`,
  );
  const countEnded = database.prepare(
    'SELECT count(*) AS count FROM (SELECT 1 FROM states WHERE finishedAt >= ? AND finishedAt < ? LIMIT ?)',
  );
  const selectHeads = database.prepare('SELECT head FROM states WHERE processState = ? AND finishedAt IS NULL LIMIT ?');

  return {
    async countUnfinished(limit) {
      const oldest = selectOldest.get() as { submittedAt: number } | undefined;
      return {
        pending: inState('Pending', limit),
        processing: inState('Processing', limit),
        error: inState('Error', limit),
        oldestAt: oldest?.submittedAt ?? null,
      };
    },
    async countListed({ list: { index, name }, from = '', to = '\u007f' }, limit) {
      const { list, sort } = columnsOf[index];
      const statement = database.prepare(
        `SELECT count(*) AS count FROM (SELECT 1 FROM documents WHERE ${list} = ? AND ${sort} >= ? AND ${sort} <= ? LIMIT ?)`,
      );
      return countOf(statement.get(name, from, to, limit));
    },
    countFinished: async (from, before, limit) => countOf(countEnded.get(from, before, limit)),
    // A damaged record is left out, as in lists.
    unfinished: async (limit) =>
      states.flatMap((state) =>
        (selectHeads.all(state, limit) as unknown as readonly { readonly head: string }[]).flatMap(({ head }) => headIn(head) ?? []),
      ),
  };
}

function headIn(text: string): StateHead | undefined {
  try {
    const head = JSON.parse(text) as StateHead | null;
    return head?.schemaVersion === 1 ? head : undefined;
  } catch {
    return undefined;
  }
}
