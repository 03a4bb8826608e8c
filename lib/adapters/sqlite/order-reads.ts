import { decodeStateOf } from '#ports/errors';
import type { OrderRecord, StateHead, StateRecord } from '#ports/records';
import type { Database } from './database.ts';
import { headOf, orderOf } from './rows.ts';

/** Reads of one order. They are synchronous, so that a write can use them within its transaction. */
export interface OrderReads {
  order(orderId: string): OrderRecord;
  both(orderId: string): { readonly order: OrderRecord; readonly state: StateRecord } | undefined;
  head(orderId: string): StateHead | undefined;
  withoutState(orderId: string): OrderRecord | undefined;
  /** Keeps a new or changed order in memory, because its steps read it soon. */
  remember(order: OrderRecord): void;
}

const recentMax = 1000;

export function orderReads(database: Database): OrderReads {
  const selectOrder = database.prepare('SELECT record FROM orders WHERE orderId = ?');
  const selectState = database.prepare(
    'SELECT o.submittedAt, s.head, s.blob FROM orders o JOIN states s ON s.id = o.id WHERE o.orderId = ?',
  );
  const selectHead = database.prepare('SELECT s.head FROM orders o JOIN states s ON s.id = o.id WHERE o.orderId = ?');

  // This number changes when another connection has committed to the file.
  const selectOthersVersion = database.prepare('SELECT data_version AS version FROM pragma_data_version');

  const stored = (orderId: string): OrderRecord => orderOf(orderId, selectOrder.get(orderId));

  /**
   * Recently read orders. Only an erasure changes an order, so a load need not read and parse it again. A different submission time means a
   * different order: the first was deleted, and its key was used again. Another process may have erased an order, so each commit of another
   * process empties this memory.
   */
  const recent = new Map<string, OrderRecord>();
  let othersVersion: number | undefined;
  const forgetAfterOthers = (): void => {
    const { version } = selectOthersVersion.get() as { version: number };
    if (version !== othersVersion) recent.clear();
    othersVersion = version;
  };
  const recentOrder = (orderId: string, submittedAt: number): OrderRecord => {
    forgetAfterOthers();
    const known = recent.get(orderId);
    const order = known?.submittedAt === submittedAt ? known : stored(orderId);
    recent.delete(orderId);
    recent.set(orderId, order);
    for (const oldest of recent.keys()) {
      if (recent.size <= recentMax) break;
      recent.delete(oldest);
    }
    return order;
  };

  return {
    order: stored,
    both(orderId) {
      const row = selectState.get(orderId) as { submittedAt: number; head: string; blob: string } | undefined;
      if (!row) return undefined;
      const order = recentOrder(orderId, row.submittedAt);
      return { order, state: { ...decodeStateOf(order, () => headOf(orderId, row.head)), blob: row.blob } };
    },
    head(orderId) {
      const row = selectHead.get(orderId) as { head: string } | undefined;
      return row && headOf(orderId, row.head);
    },
    withoutState: (orderId) => (selectOrder.get(orderId) && !selectHead.get(orderId) ? stored(orderId) : undefined),
    remember: (order) => void recent.set(order.orderId, order),
  };
}
