import type { Store } from '#ports/store';
import { dynamoDbBreakers } from './circuit-breakers.ts';
import { dynamoDbClients } from './clients.ts';
import { type DynamoDbStoreOptions, storeContext } from './context.ts';
import { dynamoDbDocuments } from './documents.ts';
import { dynamoDbErasure } from './erasure.ts';
import { dynamoDbIntents } from './intents.ts';
import { dynamoDbListing } from './listing.ts';
import { dynamoDbCreation } from './order-creation.ts';
import { dynamoDbOrderFigures } from './order-figures.ts';
import { dynamoDbOrderReads } from './order-reads.ts';
import { dynamoDbOrderWrites } from './order-writes.ts';
import { dynamoDbPages } from './pages.ts';
import { dynamoDbTallies } from './tallies.ts';
import { dynamoDbWorklist } from './worklist.ts';

/** The store in one DynamoDB table. No transaction spans a table and a queue, so messages are sent after the write. */
export function dynamoDbStore(options: DynamoDbStoreOptions): Store {
  const context = storeContext(options);
  return {
    writesAndSendsAtomically: false,
    ...dynamoDbCreation(context),
    ...dynamoDbOrderReads(context),
    ...dynamoDbOrderWrites(context),
    ...dynamoDbErasure(context),
    ...dynamoDbWorklist(context),
    ...dynamoDbPages(context),
    ...dynamoDbListing(context, options.lookedMax),
    ...dynamoDbClients(context),
    ...dynamoDbIntents(context),
    ...dynamoDbBreakers(context),
    ...dynamoDbDocuments(context),
    ...dynamoDbTallies(context),
    ...dynamoDbOrderFigures(context),
    /** Does nothing: DynamoDB's time-to-live deletes expired items at no cost. */
    forget: async () => 0,
    hasForgotten: async () => false,
  };
}
