import {
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Item } from './items.ts';
import type { Key } from './keys.ts';
import type { RetryOptions } from './retry.ts';
import type { Table } from './table.ts';

/** One item as it is now, or those of its attributes that are named. */
export async function get({ client, table }: Table, key: Key, attributes?: readonly string[]): Promise<Item | undefined> {
  const projection = attributes ? projectionOf(attributes) : {};
  const { Item: item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true, ...projection }));
  return item;
}

const roundsMax = 8;

/** Several items in one request. A batch may come back in part: what is missing is asked for again. */
export async function getAll(
  { client, table }: Table,
  wanted: readonly Key[],
  { consistent, clock, random = Math.random }: RetryOptions & { readonly consistent: boolean },
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let open: Record<string, unknown>[] = wanted.map((key) => ({ ...key }));
  for (let round = 1; open.length > 0; round++) {
    if (round > roundsMax)
      throw Object.assign(new Error('Parts of a batch did not come, however often they were asked for.'), { name: 'ThrottlingException' });
    if (round > 1) await clock.sleep(random() * 20 * 2 ** round);
    const answer = await client.send(new BatchGetCommand({ RequestItems: { [table]: { Keys: open, ConsistentRead: consistent } } }));
    found.push(...(answer.Responses?.[table] ?? []));
    open = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
}

type Unpaged<T> = Omit<T, 'TableName' | 'ExclusiveStartKey'>;

/** Items of a query; a page is read when somebody asks for what is on it. */
export async function* query({ client, table }: Table, input: Unpaged<QueryCommandInput>): AsyncGenerator<Item> {
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new QueryCommand({ ...input, TableName: table, ExclusiveStartKey: start }));
    yield* page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start);
}

/** One page of a whole table, from behind a place; and where it goes on. */
export async function scanned(
  { client, table }: Table,
  input: Unpaged<ScanCommandInput>,
  after: Key | undefined,
): Promise<{ readonly items: readonly Item[]; readonly next?: Record<string, unknown> }> {
  const start = after && { ExclusiveStartKey: { ...after } };
  const { Items: items = [], LastEvaluatedKey: next } = await client.send(new ScanCommand({ ...input, TableName: table, ...start }));
  return { items, ...(next ? { next } : {}) };
}

/** Everything that a stream gives, or the first so many of it. */
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
