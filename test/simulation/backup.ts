import { type StateHead, shardOf } from '#ports/records';
import { countersAfterRestore, withCausesSince } from '#roles/repair/restore';
import type { History, Tracked } from '#testing/world/history';
import type { Shared } from './ports.ts';

/** All tables of the database; the backup holds neither queues nor the effects of services. */
const tables = ['orders', 'states', 'pages', 'overflow', 'undoPages', 'intents', 'clients', 'breakers', 'documents'] as const;
type Row = Record<string, string | number | null>;

/** A copy of the tables at one moment, for a later restore, as `redress restore` does it. */
export class Backup {
  private readonly shared: Shared;
  private readonly rows: ReadonlyMap<string, readonly Row[]>;
  private readonly seen: ReadonlyMap<string, Tracked>;

  constructor(shared: Shared, history: History) {
    this.shared = shared;
    this.rows = new Map(tables.map((table) => [table, shared.database.prepare(`SELECT * FROM ${table}`).all() as Row[]]));
    this.seen = new Map([...history.orders].map(([orderId, order]) => [orderId, copyOf(order)]));
  }

  get orders(): readonly string[] {
    return [...this.seen.keys()];
  }

  /** Restores the tables. The history then continues from the moment of the backup. */
  restore(history: History, now: number): void {
    for (const table of tables)
      for (const row of this.rows.get(table) ?? []) this.put(table, table === 'states' ? this.continued(row, now) : row);
    for (const [orderId, order] of this.seen) {
      this.removePagesSince(orderId, order.state.rev);
      const state = { ...order.state, ...this.restoredOf(orderId) };
      history.orders.set(orderId, { ...copyOf(order), state });
      this.shared.putBack(state);
    }
    for (const { record } of this.rows.get('documents') ?? []) this.shared.channels.stored(JSON.parse(String(record)));
  }

  private removePagesSince(orderId: string, rev: number): void {
    for (const table of ['pages', 'overflow', 'undoPages'])
      this.shared.database.prepare(`DELETE FROM ${table} WHERE orderId = ? AND rev >= ?`).run(orderId, rev);
  }

  private put(table: string, row: Row): void {
    const columns = Object.keys(row);
    // The row of an order never changes, and its state refers to that row, so an existing row is kept.
    const how = table === 'orders' ? 'IGNORE' : 'REPLACE';
    this.shared.database
      .prepare(`INSERT OR ${how} INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  }

  /**
   * Raises the counters of a row past the current ones, and adds the causes since the backup, as the restore tool does. The schema version
   * becomes 1, because a newer program that had the record would be rolled back at some time.
   */
  private continued(row: Row, now: number): Row {
    const restored = JSON.parse(String(row['head'])) as StateHead;
    const inUse = this.headOf(restored.orderId);
    const head: StateHead = {
      ...(inUse ? withCausesSince(restored, inUse, now) : restored),
      ...countersAfterRestore(restored, inUse),
      schemaVersion: 1,
    };
    const { rev, epoch, worklist, worklistAt } = head;
    const shard = worklist === null ? null : shardOf(head.orderId);
    return { ...row, rev, epoch, worklist, worklistAt, shard, head: JSON.stringify(head) };
  }

  /** Returns the fields of a state that a restore has changed. */
  private restoredOf(orderId: string): Partial<StateHead> {
    const head = this.headOf(orderId);
    if (!head) return {};
    const { rev, epoch, errorGen, statusSeq, causes, open, outbox, worklist, worklistAt, nextDueAt, nextDueFor } = head;
    const ofCauses = { ...(causes === undefined ? {} : { causes }), ...(open === undefined ? {} : { open }) };
    return { rev, epoch, errorGen, statusSeq, ...ofCauses, outbox, worklist, worklistAt, nextDueAt, nextDueFor };
  }

  private headOf(orderId: string): StateHead | undefined {
    const select = 'SELECT head FROM states WHERE id = (SELECT id FROM orders WHERE orderId = ?)';
    const found = this.shared.database.prepare(select).get(orderId) as { readonly head: string } | undefined;
    return found && (JSON.parse(found.head) as StateHead);
  }
}

const copyOf = (order: Tracked): Tracked => ({
  ...order,
  journal: [...order.journal],
  signals: new Set(order.signals),
  unansweredSignals: new Set(order.unansweredSignals),
  statuses: [...order.statuses],
});
