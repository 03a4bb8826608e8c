import type { UndoPage } from '#core/data/state';
import type { Breaker } from '#ports/circuit-breaker';
import { stateBehind } from '#ports/errors';
import type { ClientRecord } from '#ports/records';
import { type OrderRecord, type StateHead, type StateRecord, shardOf } from '#ports/records';
import type { Fence, Page, SentWithWrite, Store, Write } from '#ports/store';
import { recordIn } from '#ports/util/json';
import type { Database } from './database.ts';
import { sqliteDocuments } from './documents.ts';
import { sqliteForgetting } from './forgetting.ts';
import { refuseTooLarge } from './item-size.ts';
import { sqliteListing } from './listing.ts';
import { headOf, orderOf } from './rows.ts';

/** Sends within the open transaction. Set when store, queues and event bus share one database. */
export type SendWithin = (sentWithWrite: SentWithWrite) => void;

const recentMax = 1000;

/** The store in one SQLite file. With `sendWithin`, messages of a write are part of its transaction. */
export function sqliteStore(database: Database, sendWithin?: SendWithin): Store {
  const insertOrder = database.prepare(
    'INSERT INTO orders (orderId, client, reference, submittedAt, record) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const insertState = database.prepare(
    'INSERT INTO states (rev, epoch, processState, worklist, shard, worklistAt, finishedAt, head, blob, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const columns = 'rev = ?, epoch = ?, processState = ?, worklist = ?, shard = ?, worklistAt = ?, finishedAt = ?, head = ?';
  const fenced = 'WHERE id = (SELECT id FROM orders WHERE orderId = ?) AND epoch = ? AND rev = ?';
  const updateState = database.prepare(`UPDATE states SET ${columns}, blob = ? ${fenced}`);
  const patchState = database.prepare(`UPDATE states SET ${columns} ${fenced}`);
  const selectOrder = database.prepare('SELECT record FROM orders WHERE orderId = ?');
  const selectState = database.prepare(
    'SELECT o.submittedAt, s.head, s.blob FROM orders o JOIN states s ON s.id = o.id WHERE o.orderId = ?',
  );
  const selectHead = database.prepare('SELECT s.head FROM orders o JOIN states s ON s.id = o.id WHERE o.orderId = ?');
  const selectDue = database.prepare(
    'SELECT o.orderId FROM states s JOIN orders o ON o.id = s.id WHERE s.worklist = ? AND s.shard = ? AND s.worklistAt <= ? ORDER BY s.worklistAt LIMIT ?',
  );
  const insertPage = database.prepare('INSERT INTO pages (orderId, rev, page) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const insertOverflow = database.prepare('INSERT INTO overflow (orderId, rev, part, page) VALUES (?, ?, ?, ?)');
  const selectPages = database.prepare(
    'SELECT page FROM (SELECT rev, 0 AS part, page FROM pages WHERE orderId = ?1 UNION ALL SELECT rev, part, page FROM overflow WHERE orderId = ?1) ORDER BY rev, part',
  );
  const insertUndoPage = database.prepare('INSERT INTO undoPages (orderId, rev, page) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const selectUndoPage = database.prepare('SELECT page FROM undoPages WHERE orderId = ? AND rev = ?');
  const upsertClient = database.prepare(
    'INSERT INTO clients (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  );
  const selectClient = database.prepare('SELECT record FROM clients WHERE id = ?');
  const selectClients = database.prepare('SELECT record FROM clients ORDER BY id');
  const insertIntent = database.prepare('INSERT INTO intents (orderId, idempotencyKey, requestId) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const selectIntent = database.prepare('SELECT requestId FROM intents WHERE orderId = ? AND idempotencyKey = ?');
  const deleteIntent = database.prepare('DELETE FROM intents WHERE orderId = ? AND idempotencyKey = ?');
  const selectBreaker = database.prepare('SELECT record FROM breakers WHERE agent = ?');
  const insertBreaker = database.prepare('INSERT INTO breakers (record, rev, agent) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const updateBreaker = database.prepare('UPDATE breakers SET record = ?, rev = ? WHERE agent = ? AND rev = ?');
  const documents = sqliteDocuments(database);

  const fitting = (what: string, orderId: string, value: object): string => {
    const text = JSON.stringify(value);
    refuseTooLarge(`${what} of order ${orderId}`, text);
    return text;
  };
  const putPage = (orderId: string, rev: number, page: Page) => void insertPage.run(orderId, rev, fitting('A page', orderId, page));
  const putUndoPage = (orderId: string, rev: number, page: UndoPage) =>
    void insertUndoPage.run(orderId, rev, fitting('A page', orderId, page));
  const putOverflow = (orderId: string, rev: number, overflow: readonly Page[] = []): void => {
    for (const [index, page] of overflow.entries()) insertOverflow.run(orderId, rev, index + 1, fitting('A page', orderId, page));
  };
  const send = (sentWithWrite: SentWithWrite): void => {
    if (sentWithWrite.messages.length + sentWithWrite.announcements.length > 0) sendWithin?.(sentWithWrite);
  };

  /**
   * Recently read orders. Orders never change, so steps need not read and parse them again. A different submission time means a different
   * order: the first was deleted, and its key was used again.
   */
  const recent = new Map<string, OrderRecord>();
  const recentOrder = (orderId: string, submittedAt: number): OrderRecord => {
    const known = recent.get(orderId);
    const order = known?.submittedAt === submittedAt ? known : orderOf(orderId, selectOrder.get(orderId));
    recent.delete(orderId);
    recent.set(orderId, order);
    for (const oldest of recent.keys()) {
      if (recent.size <= recentMax) break;
      recent.delete(oldest);
    }
    return order;
  };

  const bothOf = (orderId: string) => {
    const row = selectState.get(orderId) as { submittedAt: number; head: string; blob: string } | undefined;
    if (!row) return undefined;
    const order = recentOrder(orderId, row.submittedAt);
    return { order, state: { ...stateBehind(order, () => headOf(orderId, row.head)), blob: row.blob } };
  };

  const conditional = (orderId: string, changes: () => number | bigint, sentWithWrite: SentWithWrite): Promise<Write> =>
    database.write<Write>(() => {
      if (Number(changes()) === 0) return { outcome: 'refused', current: bothOf(orderId)?.state ?? null };
      send(sentWithWrite);
      return { outcome: 'written' };
    });

  return {
    writesAndSendsAtomically: sendWithin !== undefined,

    async create(order, state, sentWithWrite) {
      const { orderId } = order;
      const answer = await database.write(() => {
        const { changes, lastInsertRowid } = insertOrder.run(
          orderId,
          order.client,
          order.reference ?? null,
          order.submittedAt,
          fitting('The record', orderId, order),
        );
        if (Number(changes) === 0) return { outcome: 'exists' as const, order: orderOf(orderId, selectOrder.get(orderId)) };
        const columns = columnsOf(state);
        refuseTooLarge(`The state of order ${orderId}`, String(columns.at(-1)), state.blob);
        putOverflow(orderId, state.rev - 1, sentWithWrite.overflow);
        insertState.run(...columns, state.blob, lastInsertRowid);
        send(sentWithWrite);
        return { outcome: 'written' as const };
      });
      if (answer.outcome === 'written') recent.set(orderId, order);
      return answer;
    },

    load: async (orderId) => bothOf(orderId),

    async head(orderId) {
      const row = selectHead.get(orderId) as { head: string } | undefined;
      return row && headOf(orderId, row.head);
    },

    update: (state, { epoch, rev }: Fence, sentWithWrite) =>
      conditional(
        state.orderId,
        () => {
          if (sentWithWrite.page) putPage(state.orderId, rev, sentWithWrite.page);
          if (sentWithWrite.undoPage) putUndoPage(state.orderId, rev, sentWithWrite.undoPage);
          const columns = columnsOf(state);
          refuseTooLarge(`The state of order ${state.orderId}`, String(columns.at(-1)), state.blob);
          const { changes } = updateState.run(...columns, state.blob, state.orderId, epoch, rev);
          if (changes > 0) putOverflow(state.orderId, rev, sentWithWrite.overflow);
          return changes;
        },
        sentWithWrite,
      ),

    patch: (head, { epoch, rev }) =>
      conditional(head.orderId, () => patchState.run(...columnsOf(head), head.orderId, epoch, rev).changes, {
        messages: [],
        announcements: [],
      }),

    due: async (worklist, shard, until, limit) => idsOf(selectDue.all(worklist, shard, until, limit)),

    putPage: (orderId, rev, page) => database.write(() => putPage(orderId, rev, page)),
    pages: async (orderId) => selectPages.all(orderId).map((row) => JSON.parse((row as { page: string }).page) as Page),

    putUndoPage: (orderId, rev, page) => database.write(() => putUndoPage(orderId, rev, page)),
    async undoPage(orderId, rev) {
      const row = selectUndoPage.get(orderId, rev) as { page: string } | undefined;
      return row && recordIn<UndoPage>(orderId, row.page);
    },

    putClient: (client) => database.write(() => void upsertClient.run(client.id, JSON.stringify(client))),
    client: async (id) => clientOf(selectClient.get(id)),
    clients: async () => selectClients.all().map((row) => clientOf(row) as ClientRecord),

    recordIntent: ({ orderId, idempotencyKey, requestId }) =>
      database.write(() => {
        if (Number(insertIntent.run(orderId, idempotencyKey, requestId).changes) === 0)
          return { outcome: 'refused', ...(selectIntent.get(orderId, idempotencyKey) as { requestId: string }) } as const;
        const withdraw = () => database.write(() => void deleteIntent.run(orderId, idempotencyKey));
        return { outcome: 'recorded', withdraw } as const;
      }),

    breaker: async (agent) => breakerOf(selectBreaker.get(agent)),
    putBreaker: (breaker, loadedRev) =>
      database.write(() => {
        const columns = [JSON.stringify(breaker), breaker.rev, breaker.agent] as const;
        const { changes } = loadedRev === 0 ? insertBreaker.run(...columns) : updateBreaker.run(...columns, loadedRev);
        if (Number(changes) > 0) return { outcome: 'written' } as const;
        return { outcome: 'refused', current: breakerOf(selectBreaker.get(breaker.agent)) ?? null } as const;
      }),

    ...documents,
    ...sqliteListing(database),

    ...sqliteForgetting(database),
  };
}

type Columns = [number, number, string, string | null, number | null, number | null, number | null, string];

const columnsOf = (state: StateHead | StateRecord): Columns => {
  const { blob: _, ...head } = state as StateRecord;
  return [
    state.rev,
    state.epoch,
    state.processState,
    state.worklist,
    state.worklist === null ? null : shardOf(state.orderId),
    state.worklistAt,
    state.processState === 'Processed' ? state.updatedAt : null,
    JSON.stringify(head),
  ];
};

const breakerOf = (row: unknown): Breaker | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as Breaker);
const clientOf = (row: unknown): ClientRecord | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as ClientRecord);
const idsOf = (rows: readonly unknown[]): readonly string[] => rows.map((row) => (row as { orderId: string }).orderId);
