import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Store } from '#ports/store';
import { absent, conditionInput } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { documentItem } from './documents.ts';
import { keys } from './keys.ts';
import { get } from './reads.ts';
import { isRefused } from './retry.ts';

/** Replaces the body of an order by a masked one, removes its key, and writes the documents of the erasure, all in one transaction. */
export const dynamoDbErasure = ({ table, withRetries }: StoreContext): Pick<Store, 'eraseSecrets'> => ({
  eraseSecrets: (order, documents) =>
    withRetries(async () => {
      const { table: TableName, client } = table;
      const Update = {
        TableName,
        Key: keys.order(order.orderId),
        UpdateExpression: 'SET #body = :body, #erasedAt = :erasedAt REMOVE #key',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#body': 'body', '#erasedAt': 'erasedAt', '#key': 'key' },
        ExpressionAttributeValues: { ':body': JSON.stringify(order.body), ':erasedAt': order.erasedAt },
      };
      const puts = documents.map((document) => ({ Put: { TableName, Item: documentItem(document), ...conditionInput(absent) } }));
      try {
        await client.send(new TransactWriteCommand({ TransactItems: [{ Update }, ...puts] }));
      } catch (error) {
        // If the response to our write was lost, the retry finds it done.
        const done = isRefused(error) ? (await get(table, keys.order(order.orderId)))?.['erasedAt'] !== undefined : false;
        if (!done) throw error;
      }
    }),
});
