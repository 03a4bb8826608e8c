import type { Document, Documents } from '#ports/documents';
import type { ListRead } from '#ports/lists';
import type { Database, Statement } from './database.ts';

interface Row {
  readonly sort: string;
  readonly record: string;
}

export const columnsOf = {
  A: { list: 'listA', sort: 'sortA' },
  B: { list: 'listB', sort: 'sortB' },
  C: { list: 'listC', sort: 'sortC' },
  collection: { list: 'collection', sort: 'id' },
} as const;

/** Reads lists of documents. One process writes the file at a time, so a list needs no shards. */
export function sqliteLists(database: Database): Pick<Documents, 'listed'> {
  const statementOf = ({ list: { index }, order }: ListRead): Statement => {
    const { list, sort } = columnsOf[index];
    const [after, direction] = order === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
    return database.prepare(
      `SELECT ${sort} AS sort, record FROM documents
       WHERE ${list} = ? AND ${sort} >= ? AND ${sort} <= ? AND ${sort} ${after} ? ORDER BY ${sort} ${direction} LIMIT ?`,
    );
  };

  return {
    async listed(read) {
      const { list, order, from = lowest, to = highest, limit } = read;
      const statement = statementOf(read);
      const { after = order === 'ascending' ? lowest : highest } = read;
      const rows = statement.all(list.name, from, to, after, limit) as unknown as readonly Row[];
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { items: rows.map(({ record }) => JSON.parse(record) as Document), ...(last ? { next: last.sort } : {}) };
    },
  };
}

/** Texts before and after all sort keys. */
const [lowest, highest] = ['', '\u007f'];
