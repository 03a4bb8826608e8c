import type { Patched, SentWithWrite, Store, Write } from '#ports/store';
import type { Database } from './database.ts';
import type { DocumentsWithin } from './documents.ts';
import { fittingText, refuseTooLarge } from './item-size.ts';
import type { OrderReads } from './order-reads.ts';
import type { PagesWithin } from './pages.ts';
import { RecordChanged, type RecordsWithin } from './records-within.ts';
import { columnsOf } from './rows.ts';

export interface OrderWritesOptions {
  readonly database: Database;
  readonly orders: OrderReads;
  readonly pages: PagesWithin;
  readonly documents: DocumentsWithin;
  readonly records: RecordsWithin;
  /** Sends within the open transaction. */
  send(sentWithWrite: SentWithWrite): void;
}

/**
 * Creates orders: writes both records, pages and messages in one transaction, or returns the earlier order. `putMissingState` stores the
 * state of an order that has lost it.
 */
export function sqliteCreation({ database, orders, pages, records, send }: OrderWritesOptions): Pick<Store, 'create' | 'putMissingState'> {
  const insertOrder = database.prepare(
    'INSERT INTO orders (orderId, client, reference, submittedAt, record) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const insertState = database.prepare(
    `INSERT INTO states (rev, epoch, processState, worklist, shard, worklistAt, finishedAt, errorListedAt, head, blob, id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const selectStateless = database.prepare(
    'SELECT id FROM orders WHERE orderId = ? AND NOT EXISTS (SELECT 1 FROM states WHERE states.id = orders.id)',
  );

  return {
    putMissingState: (state) =>
      database.write(() => {
        const row = selectStateless.get(state.orderId) as { readonly id: number } | undefined;
        if (row) insertState.run(...columnsOf(state), state.blob, row.id);
      }),

    async create(order, state, sentWithWrite) {
      const { orderId, client, reference = null, submittedAt } = order;
      const answer = await database.write(() => {
        const record = fittingText('The record', orderId, order);
        const { changes, lastInsertRowid } = insertOrder.run(orderId, client, reference, submittedAt, record);
        if (Number(changes) === 0) return { outcome: 'exists' as const, order: orders.order(orderId) };
        const columns = columnsOf(state);
        refuseTooLarge(`The state of order ${orderId}`, String(columns.at(-1)), state.blob);
        pages.putOverflow(orderId, state.rev - 1, sentWithWrite.overflow);
        insertState.run(...columns, state.blob, lastInsertRowid);
        records.put(sentWithWrite.records);
        send(sentWithWrite);
        return { outcome: 'written' as const };
      });
      if (answer.outcome === 'written') orders.remember(order);
      return answer;
    },
  };
}

/** Replaces states with their pages and messages in one transaction, if no other write happened since the load. */
export function sqliteOrderWrites({
  database,
  orders,
  pages,
  documents,
  records,
  send,
}: OrderWritesOptions): Pick<Store, 'update' | 'patch'> {
  const columns =
    'rev = ?, epoch = ?, processState = ?, worklist = ?, shard = ?, worklistAt = ?, finishedAt = ?, errorListedAt = ?, head = ?';
  const fenced = 'WHERE id = (SELECT id FROM orders WHERE orderId = ?) AND epoch = ? AND rev = ?';
  const updateState = database.prepare(`UPDATE states SET ${columns}, blob = ? ${fenced}`);
  const patchState = database.prepare(`UPDATE states SET ${columns} ${fenced}`);

  const refusedFor = (orderId: string): Write => ({ outcome: 'refused', current: orders.both(orderId)?.state ?? null });
  const conditional = (orderId: string, changes: () => number | bigint, sentWithWrite: SentWithWrite): Promise<Write> =>
    database
      .write<Write>(() => {
        if (Number(changes()) === 0) return refusedFor(orderId);
        records.put(sentWithWrite.records);
        send(sentWithWrite);
        return { outcome: 'written' };
      })
      .catch((error: unknown) => {
        // Another write, for example of a person, has changed a task or an exception. The writer reads everything again.
        if (error instanceof RecordChanged) return refusedFor(orderId);
        throw error;
      });

  return {
    update: (state, { epoch, rev }, sentWithWrite) => {
      const { orderId, blob } = state;
      const changes = (): number | bigint => {
        // A page holds only entries of the state at `rev`, so a refused write stores the same page as the write that won.
        if (sentWithWrite.page) pages.putPage(orderId, rev, sentWithWrite.page);
        if (sentWithWrite.undoPage) pages.putUndoPage(orderId, rev, sentWithWrite.undoPage);
        const columns = columnsOf(state);
        refuseTooLarge(`The state of order ${orderId}`, String(columns.at(-1)), blob);
        const replaced = updateState.run(...columns, blob, orderId, epoch, rev).changes;
        if (replaced > 0) {
          pages.putOverflow(orderId, rev, sentWithWrite.overflow);
          documents.insertNew(sentWithWrite.documents ?? []);
        }
        return replaced;
      };
      return conditional(orderId, changes, sentWithWrite);
    },

    async patch(head, { epoch, rev }) {
      const changes = () => patchState.run(...columnsOf(head), head.orderId, epoch, rev).changes;
      const write = await conditional(head.orderId, changes, { messages: [], announcements: [] });
      if (write.outcome === 'written' || !write.current) return write as Patched;
      const { blob: _, ...current } = write.current;
      return { outcome: 'refused', current };
    },
  };
}
