import type { Document, Documents, DocumentWrite } from '#ports/documents';
import type { Tallies } from '#ports/tallies';
import type { Database } from './database.ts';
import { sqliteLists } from './lists.ts';
import { sqliteTallies, type TalliesWithin } from './tallies.ts';

const insertText = `INSERT INTO documents (rev, expiresAt, record, listA, sortA, listB, sortB, listC, sortC, collection, id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** Writes documents within an open transaction. */
export interface DocumentsWithin {
  put(document: Document, loadedRev: number): DocumentWrite;
  /** @throws Error if one exists; the transaction is then rolled back. */
  insertNew(documents: readonly Document[]): void;
  one(collection: string, id: string): Document | undefined;
}

export function documentsWithin(database: Database): DocumentsWithin {
  const selectOne = database.prepare('SELECT record FROM documents WHERE collection = ? AND id = ?');
  const insert = database.prepare(insertText);
  const update = database.prepare(
    `UPDATE documents SET rev = ?, expiresAt = ?, record = ?, listA = ?, sortA = ?, listB = ?, sortB = ?, listC = ?, sortC = ?
     WHERE collection = ? AND id = ? AND rev = ?`,
  );
  const one = (collection: string, id: string): Document | undefined => documentOf(selectOne.get(collection, id));
  return {
    one,
    put(document, loadedRev) {
      const columns = columnsOf(document);
      const { changes } = loadedRev === 0 ? insert.run(...columns) : update.run(...columns, loadedRev);
      return Number(changes) > 0 ? { outcome: 'written' } : { outcome: 'refused', current: one(document.collection, document.id) ?? null };
    },
    insertNew(documents) {
      for (const document of documents)
        if (Number(insert.run(...columnsOf(document)).changes) === 0)
          throw new Error(`The document ${document.id} of ${document.collection} exists already.`);
    },
  };
}

/** Stores documents in a table. Expired ones stay until `tidy` runs. */
export function sqliteDocuments(database: Database, within: DocumentsWithin, tallies: TalliesWithin): Documents & Tallies {
  const selectSome = database.prepare('SELECT record FROM documents WHERE collection = ? AND id > ? ORDER BY id LIMIT ?');
  const countSome = database.prepare('SELECT count(*) AS count FROM (SELECT 1 FROM documents WHERE collection = ? LIMIT ?)');
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ? AND rev = ?');

  return {
    document: async (collection, id) => within.one(collection, id),
    documents: async (collection, after, limit) => selectSome.all(collection, after ?? '', limit).map((row) => documentOf(row) as Document),
    async countDocuments(collection, limit) {
      const { count } = countSome.get(collection, limit + 1) as { count: number };
      return { count: Math.min(count, limit), more: count > limit };
    },
    ...sqliteLists(database),
    ...sqliteTallies(database, within, tallies),
    putDocument: (document, loadedRev, beside = []) =>
      database.write(() => {
        const answer = within.put(document, loadedRev);
        if (answer.outcome === 'written') within.insertNew(beside);
        return answer;
      }),
    removeDocument: (collection, id, loadedRev) =>
      database.write(() => {
        const { changes } = remove.run(collection, id, loadedRev);
        return Number(changes) > 0 ? { outcome: 'written' } : { outcome: 'refused', current: within.one(collection, id) ?? null };
      }),
  };
}

const columnsOf = (document: Document) => {
  const { collection, id, rev, expiresAt = null, listA, listB, listC } = document;
  const entries = [listA, listB, listC].flatMap((entry) => [entry?.list.name ?? null, entry?.sort ?? null]);
  return [rev, expiresAt, JSON.stringify(document), ...entries, collection, id] as const;
};

const documentOf = (row: unknown): Document | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as Document);
