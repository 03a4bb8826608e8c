import type { Store } from '#ports/store';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { type Key, orderIdIn, worklistKey } from './keys.ts';
import { collect, query, scanned } from './reads.ts';
import { indexes } from './table.ts';

/** Finds orders that are due: by the index, and by a scan for those that the index lacks. */
export const dynamoDbWorklist = ({ table, withRetries }: StoreContext): Pick<Store, 'due' | 'sweep'> => ({
  due: (worklist, shard, until, limit) => {
    const { name, partition, sort } = indexes.worklist;
    const input = {
      IndexName: name,
      KeyConditionExpression: '#partition = :partition AND #sort <= :until',
      ExpressionAttributeNames: { '#partition': partition, '#sort': sort },
      ExpressionAttributeValues: { ':partition': worklistKey(worklist, shard), ':until': until },
      Limit: limit,
    };
    return withRetries(() => collect(query(table, input), idOf, limit));
  },

  /**
   * Scans the table itself, because the index may lack an order. Finished orders without a deadline are left out: their number only grows.
   * The scan examines about four items for each order.
   */
  async sweep(after, limit) {
    const input = {
      FilterExpression: 'sk = :state AND (attribute_exists(nextDueAt) OR NOT processState = :processed)',
      ExpressionAttributeValues: { ':state': 'STATE', ':processed': 'Processed' },
      ProjectionExpression: 'pk',
      Select: 'SPECIFIC_ATTRIBUTES' as const,
      Limit: 4 * limit,
    };
    const { items, next } = await withRetries(() => scanned(table, input, placeOf(after)));
    return { ids: items.map(idOf), ...(next === undefined ? {} : { next: JSON.stringify(next) }) };
  },
});

/** Returns the position where a sweep continues. Positions of another kind of store are ignored. */
const placeOf = (after: string | undefined): Key | undefined => (after?.startsWith('{') ? (JSON.parse(after) as Key) : undefined);
const idOf = (item: Item): string => orderIdIn(String(item['pk']));
