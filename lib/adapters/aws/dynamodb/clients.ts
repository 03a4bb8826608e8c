import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Store } from '#ports/store';
import type { StoreContext } from './context.ts';
import { clientItem, clientOf } from './items.ts';
import { keys, partitions } from './keys.ts';
import { collect, get, query } from './reads.ts';

/** Stores the clients that may submit orders. */
export const dynamoDbClients = ({ table, withRetries }: StoreContext): Pick<Store, 'putClient' | 'client' | 'clients'> => ({
  putClient: (record) =>
    withRetries(() => table.client.send(new PutCommand({ TableName: table.table, Item: clientItem(record) }))).then(() => undefined),
  async client(id) {
    const item = await withRetries(() => get(table, keys.client(id)));
    return item && clientOf(item);
  },
  clients: () => {
    const input = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': partitions.clients }, ConsistentRead: true };
    return withRetries(() => collect(query(table, input), clientOf));
  },
});
