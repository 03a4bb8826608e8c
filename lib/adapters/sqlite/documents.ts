import type { Document, Documents, DocumentWrite } from '#ports/documents';
import type { Database } from './database.ts';
import { sqliteLists } from './lists.ts';

const insertText = `INSERT INTO documents (rev, expiresAt, record, listA, sortA, listB, sortB, collection, id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** Inserts new documents within an open transaction. */
export interface DocumentsWithin {
  /** @throws Error if one exists; the transaction is then rolled back. */
  insertNew(documents: readonly Document[]): void;
}

export function documentsWithin(database: Database): DocumentsWithin {
  const insert = database.prepare(insertText);
  return {
    insertNew(documents) {
      for (const document of documents)
        if (Number(insert.run(...columnsOf(document)).changes) === 0)
          throw new Error(`The document ${document.id} of ${document.collection} exists already.`);
    },
  };
}

/** Stores documents in a table. Expired ones stay until `tidy` runs. */
export function sqliteDocuments(database: Database, within: DocumentsWithin): Documents {
  const selectOne = database.prepare('SELECT record FROM documents WHERE collection = ? AND id = ?');
  const selectSome = database.prepare('SELECT record FROM documents WHERE collection = ? AND id > ? ORDER BY id LIMIT ?');
  const countSome = database.prepare('SELECT count(*) AS count FROM (SELECT 1 FROM documents WHERE collection = ? LIMIT ?)');
  const insert = database.prepare(insertText);
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
    putDocument: (document, loadedRev, beside = []) =>
      database.write(() => {
        const { changes } = loadedRev === 0 ? insert.run(...columnsOf(document)) : update.run(...columnsOf(document), loadedRev);
        if (Number(changes) > 0) within.insertNew(beside);
        return answerOf(document.collection, document.id, changes);
      }),
    removeDocument: (collection, id, loadedRev) =>
      database.write(() => answerOf(collection, id, remove.run(collection, id, loadedRev).changes)),
  };
}

const columnsOf = (document: Document) => {
  const { collection, id, rev, expiresAt = null, listA, listB } = document;
  const entries = [listA, listB].flatMap((entry) => [entry?.list.name ?? null, entry?.sort ?? null]);
  return [rev, expiresAt, JSON.stringify(document), ...entries, collection, id] as const;
};

const documentOf = (row: unknown): Document | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as Document);
