import { hash } from 'node:crypto';
import type { Database } from '#adapters/sqlite/database';

/** Tables in which a client or a person could leave something behind. */
const tables = [
  'orders',
  'states',
  'pages',
  'undoPages',
  'clients',
  'intents',
  'announcements',
  'documents',
  'messages',
  'overflow',
] as const;

export type Stored = { readonly [table: string]: { readonly rows: number; readonly hash: string } };

/** Returns the number and a hash of the rows of each table. */
export const storedIn = (database: Database): Stored =>
  Object.fromEntries(
    tables.map((table) => {
      const rows = database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all();
      return [table, { rows: rows.length, hash: hash('sha256', JSON.stringify(rows)) }];
    }),
  );

/** Says which tables differ. */
export const changedIn = (before: Stored, after: Stored, but: readonly string[] = []): readonly string[] =>
  Object.keys(before)
    .filter((table) => !but.includes(table) && before[table]?.hash !== after[table]?.hash)
    .map((table) => `the table ${table} has changed: ${before[table]?.rows} rows before, ${after[table]?.rows} after`);
