import type { Document, Documents, DocumentWrite } from '#ports/documents';
import type { Database } from './database.ts';
import { sqliteLists } from './lists.ts';

/** Stores documents in a table. Expired ones stay until `tidy` runs. */
export function sqliteDocuments(database: Database): Documents {
  const selectOne = database.prepare('SELECT record FROM documents WHERE collection = ? AND id = ?');
  const selectSome = database.prepare('SELECT record FROM documents WHERE collection = ? AND id > ? ORDER BY id LIMIT ?');
  const countSome = database.prepare('SELECT count(*) AS count FROM (SELECT 1 FROM documents WHERE collection = ? LIMIT ?)');
  const insert = database.prepare(
    `INSERT INTO documents (rev, expiresAt, record, listA, sortA, listB, sortB, collection, id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const update = database.prepare(
    `UPDATE documents SET rev = ?, expiresAt = ?, record = ?, listA = ?, sortA = ?, listB = ?, sortB = ?
     WHERE collection = ? AND id = ? AND rev = ?`,
  );
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ? AND rev = ?');

  const one = (collection: string, id: string): Document | undefined => documentOf(selectOne.get(collection, id));
  const answerOf = (collection: string, id: string, changes: number | bigint): DocumentWrite =>
    Number(changes) > 0 ? { outcome: 'written' } : { outcome: 'refused', current: one(collection, id) ?? null };

  return {
    document: async (collection, id) => one(collection, id),
    documents: async (collection, after, limit) => selectSome.all(collection, after ?? '', limit).map((row) => documentOf(row) as Document),
    async countDocuments(collection, limit) {
      const { count } = countSome.get(collection, limit + 1) as { count: number };
      return { count: Math.min(count, limit), more: count > limit };
    },
    ...sqliteLists(database),
    putDocument: (document, loadedRev) =>
      database.write(() => {
        const { collection, id, rev, expiresAt = null, listA, listB } = document;
        const entries = [listA, listB].flatMap((entry) => [entry?.list.name ?? null, entry?.sort ?? null]);
        const columns = [rev, expiresAt, JSON.stringify(document), ...entries, collection, id] as const;
        const { changes } = loadedRev === 0 ? insert.run(...columns) : update.run(...columns, loadedRev);
        return answerOf(collection, id, changes);
      }),
    removeDocument: (collection, id, loadedRev) =>
      database.write(() => answerOf(collection, id, remove.run(collection, id, loadedRev).changes)),
  };
}

const documentOf = (row: unknown): Document | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as Document);
