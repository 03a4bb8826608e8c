import type { UndoPage } from '#core/data/state';
import type { Page, Store } from '#ports/store';
import { recordIn } from '#ports/util/json';
import type { Database } from './database.ts';
import { fittingText } from './item-size.ts';

/** Writes of pages within the open transaction. */
export interface PagesWithin {
  putPage(orderId: string, rev: number, page: Page): void;
  putUndoPage(orderId: string, rev: number, page: UndoPage): void;
  /** Stores journal entries that do not fit into the state of the same write. */
  putOverflow(orderId: string, rev: number, overflow: readonly Page[] | undefined): void;
}

export function pagesWithin(database: Database): PagesWithin {
  const insertPage = database.prepare('INSERT INTO pages (orderId, rev, page) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const insertUndoPage = database.prepare('INSERT INTO undoPages (orderId, rev, page) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const insertOverflow = database.prepare('INSERT INTO overflow (orderId, rev, part, page) VALUES (?, ?, ?, ?)');
  return {
    putPage: (orderId, rev, page) => void insertPage.run(orderId, rev, fittingText('A page', orderId, page)),
    putUndoPage: (orderId, rev, page) => void insertUndoPage.run(orderId, rev, fittingText('A page', orderId, page)),
    putOverflow(orderId, rev, overflow = []) {
      for (const [index, page] of overflow.entries()) insertOverflow.run(orderId, rev, index + 1, fittingText('A page', orderId, page));
    },
  };
}

/** Stores pages of the journal and of the undo list beside the state. */
export function sqlitePages(database: Database, within: PagesWithin): Pick<Store, 'putPage' | 'pages' | 'putUndoPage' | 'undoPage'> {
  const selectPages = database.prepare(
    'SELECT page FROM (SELECT rev, 0 AS part, page FROM pages WHERE orderId = ?1 UNION ALL SELECT rev, part, page FROM overflow WHERE orderId = ?1) ORDER BY rev, part',
  );
  const selectUndoPage = database.prepare('SELECT page FROM undoPages WHERE orderId = ? AND rev = ?');
  return {
    putPage: (orderId, rev, page) => database.write(() => within.putPage(orderId, rev, page)),
    pages: async (orderId) => selectPages.all(orderId).map((row) => JSON.parse((row as { page: string }).page) as Page),

    putUndoPage: (orderId, rev, page) => database.write(() => within.putUndoPage(orderId, rev, page)),
    async undoPage(orderId, rev) {
      const row = selectUndoPage.get(orderId, rev) as { page: string } | undefined;
      return row && recordIn<UndoPage>(orderId, row.page);
    },
  };
}
