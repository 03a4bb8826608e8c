import type { Document, DocumentPage, Documents } from '#ports/documents';
import { type ListEntry, type ListIndex, type ListRead, shardFor, shardsOf } from '#ports/lists';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { merged } from './merge.ts';
import { collect, getAll, query } from './reads.ts';
import { indexes, type Table } from './table.ts';

/** Returns the attributes of a document that put it on its lists. */
export const listAttributes = ({ collection, id, listA, listB, listC }: Document): Item => {
  const attributesOf = (entry: ListEntry<ListIndex> | undefined): Item => {
    if (!entry) return {};
    const { partition, sort } = indexOf[entry.list.index];
    return { [partition]: shardFor(entry.list, `${collection} ${id}`), [sort]: entry.sort };
  };
  return { ...attributesOf(listA), ...attributesOf(listB), ...attributesOf(listC) };
};

export const indexOf = { A: indexes.listA, B: indexes.listB, C: indexes.listC } as const;

/** Returns the names of the partition key and of the sort key of a list, in the table or in an index. */
const keysOf = ({ index }: ListRead['list']): { readonly IndexName?: string; readonly partition: string; readonly sort: string } => {
  if (index === 'collection') return { partition: 'pk', sort: 'sk' };
  const { name, partition, sort } = indexOf[index];
  return { IndexName: name, partition, sort };
};

/** Reads lists of documents. An index may lag, so it gives candidates: items are read consistently and must still match their entries. */
export function dynamoDbLists(
  { table, retryOptions, withRetries }: StoreContext,
  documentOf: (item: Item) => Document,
): Pick<Documents, 'listed'> {
  async function page(read: ListRead): Promise<DocumentPage> {
    const { list, limit } = read;
    const entries = await collect(entriesOf(table, read), (item) => item, limit);
    const items = list.index === 'collection' ? entries : await currentItemsOf(entries);
    const last = entries.length === limit ? entries.at(-1) : undefined;
    return { items: items.map(documentOf), ...(last ? { next: String(last[keysOf(list).sort]) } : {}) };
  }

  /** Returns the current items of index entries, in their order. Leaves out items whose keys have changed since the index was written. */
  async function currentItemsOf(entries: readonly Item[]): Promise<readonly Item[]> {
    const wanted = entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
    const items = await getAll(table, wanted, { ...retryOptions, consistent: true });
    const found = new Map(items.map((item) => [textOf(item), item]));
    return entries.flatMap((entry) => {
      const item = found.get(textOf(entry));
      return item && Object.entries(entry).every(([name, value]) => item[name] === value) ? [item] : [];
    });
  }

  return { listed: (read) => withRetries(() => page(read)) };
}

const textOf = ({ pk, sk }: Item): string => `${pk} ${sk}`;

/** The first and the last sort key of ASCII characters. */
const [lowest, highest] = [' ', '\u007f'];

async function* entriesOf(table: Table, { list, order, from = lowest, to = highest, after, limit }: ListRead): AsyncGenerator<Item> {
  const { IndexName, partition, sort } = keysOf(list);
  const ascends = order === 'ascending';
  const [first, last] = [ascends ? (after ?? from) : from, ascends ? to : (after ?? to)];
  if (first > last) return;
  const shards = shardsOf(list);
  const ofShard = (shard: string): AsyncGenerator<Item> =>
    query(table, {
      ...(IndexName ? { IndexName } : { ConsistentRead: true }),
      KeyConditionExpression: '#partition = :partition AND #sort BETWEEN :first AND :last',
      ExpressionAttributeNames: { '#partition': partition, '#sort': sort },
      ExpressionAttributeValues: { ':partition': shard, ':first': first, ':last': last },
      ScanIndexForward: ascends,
      // One entry more than the page, because the entry at `after` is read, too, and left out.
      Limit: shards.length === 1 ? limit + 1 : Math.min(limit + 1, shardLimit),
    });
  const key = (item: Item): string => String(item[sort]);
  const all = merged(shards.map(ofShard), (one, other) => (ascends ? key(one) < key(other) : key(one) > key(other)));
  for await (const item of all) if (key(item) !== after) yield item;
}

/** Entries read at a time from one of several shards. */
const shardLimit = 25;
