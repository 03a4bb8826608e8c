import type { SentWithWrite, Store } from '#ports/store';
import { sqliteBreakers } from './circuit-breakers.ts';
import { sqliteClients } from './clients.ts';
import type { Database } from './database.ts';
import { documentsWithin, sqliteDocuments } from './documents.ts';
import { sqliteErasure } from './erasure.ts';
import { sqliteForgetting } from './forgetting.ts';
import { sqliteIntents } from './intents.ts';
import { sqliteListing } from './listing.ts';
import { sqliteOrderFigures } from './order-figures.ts';
import { orderReads } from './order-reads.ts';
import { sqliteCreation, sqliteOrderWrites } from './order-writes.ts';
import { pagesWithin, sqlitePages } from './pages.ts';
import { recordsWithin } from './records-within.ts';
import { talliesWithin } from './tallies.ts';
import { sqliteWorklist } from './worklist.ts';

/** Sends within the open transaction. Set when store, queues and event bus share one database. */
export type SendWithin = (sentWithWrite: SentWithWrite) => void;

/** The store in one SQLite file. With `sendWithin`, messages of a write are part of its transaction. */
export function sqliteStore(database: Database, sendWithin?: SendWithin): Store {
  const orders = orderReads(database);
  const pages = pagesWithin(database);
  const send: SendWithin = (sentWithWrite) => {
    if (sentWithWrite.messages.length + sentWithWrite.announcements.length > 0) sendWithin?.(sentWithWrite);
  };
  const documents = documentsWithin(database);
  const tallies = talliesWithin(database);
  const writes = { database, orders, pages, documents, records: recordsWithin(documents, tallies), send };
  return {
    writesAndSendsAtomically: sendWithin !== undefined,
    load: async (orderId) => orders.both(orderId),
    head: async (orderId) => orders.head(orderId),
    orderWithoutState: async (orderId) => orders.withoutState(orderId),
    ...sqliteCreation(writes),
    ...sqliteOrderWrites(writes),
    ...sqliteWorklist(database),
    ...sqlitePages(database, pages),
    ...sqliteListing(database),
    ...sqliteClients(database, documents),
    ...sqliteIntents(database),
    ...sqliteBreakers(database),
    ...sqliteDocuments(database, documents, tallies),
    ...sqliteErasure(database, orders, documents),
    ...sqliteForgetting(database),
    ...sqliteOrderFigures(database),
  };
}
