import type { Store } from '#ports/store';
import type { Database } from './database.ts';
import type { DocumentsWithin } from './documents.ts';
import type { OrderReads } from './order-reads.ts';

const checkpointTries = 40;
const pauseMs = 25;

/** Erases the key of an order from the file: from its record, from requests that are left on queues, and from the write-ahead log. */
export function sqliteErasure(database: Database, orders: OrderReads, within: DocumentsWithin): Pick<Store, 'eraseSecrets'> {
  const update = database.prepare('UPDATE orders SET record = ? WHERE orderId = ?');
  const removeRequests = database.prepare("DELETE FROM messages WHERE queue LIKE '%-requests%' AND instr(body, ?) > 0");
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  return {
    async eraseSecrets(order, documents) {
      await database.write(() => {
        update.run(JSON.stringify(order), order.orderId);
        removeRequests.run(order.orderId);
        within.insertNew(documents);
      });
      orders.remember(order);
      // The write-ahead log holds earlier content of the file until a checkpoint empties it.
      for (let tries = 1; (checkpoint.get() as { busy: number }).busy !== 0 && tries < checkpointTries; tries++)
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
    },
  };
}
