import {
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { backoffMs } from '#ports/util/backoff';
import type { Item } from './items.ts';
import type { Key } from './keys.ts';
import type { RetryOptions } from './retry.ts';
import type { IndexShape, Table } from './table.ts';

/** Returns the current item, or its named attributes. */
export async function get({ client, table }: Table, key: Key, attributes?: readonly string[]): Promise<Item | undefined> {
  const projection = attributes ? projectionOf(attributes) : {};
  const { Item: item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true, ...projection }));
  return item;
}

const roundsMax = 8;

/** Returns several items. DynamoDB may answer a batch in part, so the missing items are requested again. */
export async function getAll(
  { client, table }: Table,
  wanted: readonly Key[],
  { consistent, clock, random = Math.random }: RetryOptions & { readonly consistent: boolean },
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let open: Record<string, unknown>[] = wanted.map((key) => ({ ...key }));
  for (let round = 1; open.length > 0; round++) {
    if (round > roundsMax)
      throw Object.assign(new Error('DynamoDB returned only a part of a batch, after all retries.'), { name: 'ThrottlingException' });
    if (round > 1) await clock.sleep(backoffMs({ first: 20, jitter: [0, 1] }, round, random()));
    const answer = await client.send(new BatchGetCommand({ RequestItems: { [table]: { Keys: open, ConsistentRead: consistent } } }));
    found.push(...(answer.Responses?.[table] ?? []));
    open = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
}

type Unpaged<T> = Omit<T, 'TableName' | 'ExclusiveStartKey'>;

/** Yields the items of a query, and reads each page on demand. */
export async function* query({ client, table }: Table, input: Unpaged<QueryCommandInput>): AsyncGenerator<Item> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new QueryCommand({ ...input, TableName: table, ExclusiveStartKey: start }));
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start);
}

/** Counts the items of a partition within one page of a query. `more`: the page did not reach the end of the partition. */
export async function countPage(
  { client, table }: Table,
  partition: string,
  limit: number,
): Promise<{ readonly count: number; readonly more: boolean }> {
  const condition = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': partition } };
  const input = { TableName: table, ...condition, ConsistentRead: true, Select: 'COUNT', Limit: limit } as const;
  const { Count: count = 0, LastEvaluatedKey: last } = await client.send(new QueryCommand(input));
  return { count, more: last !== undefined };
}

/**
 * Counts the entries of an index between two sort keys, up to a limit. DynamoDB bills the size of the entries, although it returns only
 * their number.
 */
export async function countRange(
  { client, table }: Table,
  { index, partition, from, to }: { readonly index: IndexShape; readonly partition: string; readonly from: unknown; readonly to: unknown },
  limit: number,
): Promise<number> {
  let sum = 0;
  let start: Record<string, unknown> | undefined;
  do {
    const { Count = 0, LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: index.name,
        KeyConditionExpression: '#partition = :partition AND #sort BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#partition': index.partition, '#sort': index.sort },
        ExpressionAttributeValues: { ':partition': partition, ':from': from, ':to': to },
        Select: 'COUNT',
        Limit: limit - sum,
        ExclusiveStartKey: start,
      }),
    );
    sum += Count;
    start = LastEvaluatedKey;
  } while (start && sum < limit);
  return sum;
}

/** Returns one page of a whole table after a position, and the next position. */
export async function scanned(
  { client, table }: Table,
  input: Unpaged<ScanCommandInput>,
  after: Key | undefined,
): Promise<{ readonly items: readonly Item[]; readonly next?: Record<string, unknown> }> {
  const start = after && { ExclusiveStartKey: { ...after } };
  const { Items: items = [], LastEvaluatedKey: next } = await client.send(new ScanCommand({ ...input, TableName: table, ...start }));
  return { items, ...(next ? { next } : {}) };
}

/** Collects a stream, or the first items of it. */
export async function collect<T, U>(
  stream: AsyncIterable<T>,
  make: (each: T) => U,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly U[]> {
  const collected: U[] = [];
  if (limit <= 0) return collected;
  for await (const each of stream) {
    collected.push(make(each));
    if (collected.length >= limit) break;
  }
  return collected;
}

const projectionOf = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
});
