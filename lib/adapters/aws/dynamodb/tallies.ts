import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { JsonObject } from '#core/data/json';
import type { Tallies, Tally, TallyAdd } from '#ports/tallies';
import { absent, atRev, conditionInput } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { documentItem, writtenDocument } from './documents.ts';
import type { Item } from './items.ts';
import { collect, query } from './reads.ts';
import { isRefused } from './retry.ts';
import { expiryAttribute } from './table.ts';
import { type Answer, itemIn } from './update-if.ts';

/** Prefix of the attributes that hold the sums. */
const sumPrefix = 'sum_';

/**
 * Adds to tallies in the transaction that writes the counted document. A transaction costs two write units for each small item, so four in
 * all, and those of the indexes.
 */
export function dynamoDbTallies({ table, withRetries }: StoreContext): Tallies {
  async function putBoth(item: Item, loadedRev: number, add: TallyAdd): Promise<Answer> {
    const condition = {
      ...conditionInput(loadedRev === 0 ? absent : atRev(loadedRev)),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const TransactItems = [{ Put: { TableName: table.table, Item: item, ...condition } }, { Update: updateOf(table.table, add) }];
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems }));
      return { outcome: 'written' };
    } catch (error) {
      if (!isRefused(error)) throw error;
      return { outcome: 'refused', current: itemIn(error.CancellationReasons?.[0]?.Item) };
    }
  }

  return {
    async putCounted(document, loadedRev, add) {
      const item = documentItem(document);
      return writtenDocument(await withRetries(() => putBoth(item, loadedRev, add)), item.record);
    },
    tallies: (collection, from) =>
      withRetries(() =>
        collect(
          // DynamoDB refuses an empty text in a condition on a key.
          query(table, {
            KeyConditionExpression: `pk = :pk${from === '' ? '' : ' AND sk >= :from'}`,
            ExpressionAttributeValues: { ':pk': collection, ...(from === '' ? {} : { ':from': from }) },
          }),
          tallyOf,
        ),
      ),
  };
}

function updateOf(TableName: string, { collection, id, sums, about, at, expiresAt }: TallyAdd) {
  const names = Object.keys(sums);
  const times = at === undefined ? '' : ', #firstAt = if_not_exists(#firstAt, :at), #lastAt = :at';
  return {
    TableName,
    Key: { pk: collection, sk: id },
    UpdateExpression: `SET #about = if_not_exists(#about, :about), #end = :end${times} ADD ${names.map((_, index) => `#s${index} :s${index}`).join(', ')}`,
    ExpressionAttributeNames: {
      '#about': 'about',
      '#end': expiryAttribute,
      ...(at === undefined ? {} : { '#firstAt': 'firstAt', '#lastAt': 'lastAt' }),
      ...Object.fromEntries(names.map((name, index) => [`#s${index}`, sumPrefix + name])),
    },
    ExpressionAttributeValues: {
      ':about': JSON.stringify(about),
      ':end': Math.ceil(expiresAt / 1000),
      ...(at === undefined ? {} : { ':at': at }),
      ...Object.fromEntries(names.map((name, index) => [`:s${index}`, sums[name]])),
    },
  };
}

const tallyOf = (item: Item): Tally => ({
  collection: String(item['pk']),
  id: String(item['sk']),
  sums: Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (name.startsWith(sumPrefix) ? [[name.slice(sumPrefix.length), Number(value)]] : [])),
  ),
  about: JSON.parse(String(item['about'])) as JsonObject,
  firstAt: Number(item['firstAt'] ?? 0),
  lastAt: Number(item['lastAt'] ?? 0),
});
