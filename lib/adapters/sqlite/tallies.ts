import type { JsonObject } from '#core/data/json';
import type { Tallies, Tally, TallyAdd } from '#ports/tallies';
import type { Database } from './database.ts';
import type { DocumentsWithin } from './documents.ts';

interface Row {
  readonly id: string;
  readonly sums: string;
  readonly about: string;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/** Adds to tallies within an open transaction. */
export interface TalliesWithin {
  add(more: TallyAdd): void;
}

export function talliesWithin(database: Database): TalliesWithin {
  const selectOne = database.prepare('SELECT id, sums, about, firstAt, lastAt FROM tallies WHERE collection = ? AND id = ?');
  const upsert = database.prepare(
    `INSERT INTO tallies (collection, id, sums, about, firstAt, lastAt, expiresAt) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET sums = excluded.sums, firstAt = excluded.firstAt, lastAt = excluded.lastAt, expiresAt = excluded.expiresAt`,
  );
  return {
    add({ collection, id, sums, about, at, expiresAt }) {
      const row = selectOne.get(collection, id) as Row | undefined;
      const before = row ? (JSON.parse(row.sums) as Tally['sums']) : {};
      const after = Object.entries(sums).reduce((all, [name, by]) => ({ ...all, [name]: (all[name] ?? 0) + by }), before);
      const times = [row?.firstAt ?? at ?? null, at ?? row?.lastAt ?? null] as const;
      upsert.run(collection, id, JSON.stringify(after), JSON.stringify(about), ...times, expiresAt);
    },
  };
}

/** Stores sums in a table, each in the transaction that writes the counted document. */
export function sqliteTallies(database: Database, documents: DocumentsWithin, within: TalliesWithin): Tallies {
  const selectFrom = database.prepare('SELECT id, sums, about, firstAt, lastAt FROM tallies WHERE collection = ? AND id >= ? ORDER BY id');
  return {
    putCounted: (document, loadedRev, more) =>
      database.write(() => {
        const answer = documents.put(document, loadedRev);
        if (answer.outcome === 'written') within.add(more);
        return answer;
      }),
    tallies: async (collection, from) =>
      (selectFrom.all(collection, from) as unknown as readonly Row[]).map(({ id, sums, about, firstAt, lastAt }) => ({
        collection,
        id,
        sums: JSON.parse(sums) as Tally['sums'],
        about: JSON.parse(about) as JsonObject,
        firstAt: firstAt ?? 0,
        lastAt: lastAt ?? 0,
      })),
  };
}
