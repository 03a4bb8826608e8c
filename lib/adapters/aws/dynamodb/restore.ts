import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Json } from '#core/data/json';
import { masked } from '#core/definition/secrets';
import { collections, type Document } from '#ports/documents';
import { SetupError, UnreadableRecordError } from '#ports/errors';
import type { CallerRef, Counters, StateHead } from '#ports/records';
import { documentOf } from './documents.ts';
import { headChange, headOf } from './items.ts';
import { isCauseRecord, isPage, type Key, keys, orderIdIn, revOf } from './keys.ts';

/** A restored table, the table in use, and functions for the counters and the open exceptions (causes) of a restored order. */
export interface Restoring {
  readonly client: DynamoDBDocumentClient;
  /** The table that is read. */
  readonly from: string;
  /** The table that is written. */
  readonly to: string;
  /** Returns the counters of a restored order, from those of the backup and those in use. */
  readonly countersAfter: (restored: Partial<Counters>, inUse?: Partial<Counters>) => Counters;
  /**
   * Returns a restored head that knows the causes since the backup: from the head in use or, if that is lost, from the order's documents.
   */
  readonly causesAfter: (restored: StateHead, inUse: StateHead | readonly Document[]) => StateHead;
  /** Called after each portion of the scan, with the number of items copied so far. */
  readonly onCopied?: (items: number) => void;
}

/** An order from after the backup, which a restored order has called. */
export interface CalledSince {
  readonly orderId: string;
  readonly submittedAt: number;
  readonly callerId: string;
  /** The path of the call in its caller. */
  readonly path: string;
}

type Item = Record<string, unknown>;
type Request = { readonly PutRequest: { readonly Item: Item } } | { readonly DeleteRequest: { readonly Key: Key } };

/** DynamoDB's maximum per request. */
const batchMax = 25;

/** Attempts of the SDK for each request. A copy takes long, and must not fail because some of its requests are throttled. */
const attemptsMax = 10;

/** Opens a client with the region and the credentials that the AWS SDK finds. Rejects with SetupError if it finds no region. */
export async function openTables(): Promise<{ readonly client: DynamoDBDocumentClient; close(): void }> {
  const client = new DynamoDBClient({ maxAttempts: attemptsMax });
  try {
    await client.config.region();
  } catch {
    throw new SetupError('No region is set.', 'Set AWS_REGION to the region of the tables.');
  }
  return { client: DynamoDBDocumentClient.from(client), close: () => client.destroy() };
}

/** @throws SetupError unless both tables exist and have the keys of Redress. */
export async function checkTables({ client, from, to }: Pick<Restoring, 'client' | 'from' | 'to'>): Promise<void> {
  for (const table of [from, to]) {
    const attributes = (await keysOf(client, table)).map(({ AttributeName }) => AttributeName);
    if (attributes.join() !== 'pk,sk')
      throw new SetupError(
        `The table ${table} is not a table of Redress: expected the keys pk and sk, got ${attributes.join(' and ')}.`,
        'The output TableName of the deployment names its table.',
      );
  }
}

async function keysOf(client: DynamoDBDocumentClient, table: string) {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: table }))).Table?.KeySchema ?? [];
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    const region = await client.config.region();
    throw new SetupError(
      `There is no table ${table} in ${region}.`,
      'Name a table of this account and region: AWS_REGION, and the output TableName.',
    );
  }
}

/**
 * Copies every item of a restored table into the table in use, and overwrites items with the same key. Resolves with the number
 * of items.
 *
 * Each order continues with unused numbers, and its pages from after the backup are removed, because old and new writes must
 * not mix. Its exceptions and tasks from after the backup stay, and the order closes them. The intents of agents, and all orders, from after
 * the backup stay. No process may use either table meanwhile. An interrupted copy can be repeated.
 */
export async function copyItems(restoring: Restoring): Promise<number> {
  let copied = 0;
  for await (const items of pagesOf(restoring.client, { TableName: restoring.from })) {
    for (let first = 0; first < items.length; first += batchMax) {
      const batch = await Promise.all(items.slice(first, first + batchMax).map((item) => prepareRestore(restoring, item)));
      await write(
        restoring,
        batch.map((Item) => ({ PutRequest: { Item } })),
      );
    }
    copied += items.length;
    restoring.onCopied?.(copied);
  }
  return copied;
}

/**
 * Erases again the secrets that were erased after the backup, because the copy has brought them back: masks them in orders, and deletes the
 * dead letters that contain them. The copy leaves all tombstones in the table in use, so none is missing. Resolves with the number of orders.
 */
export async function eraseAgain({ client, to }: Pick<Restoring, 'client' | 'to'>): Promise<number> {
  let erased = 0;
  for await (const items of pagesOf(client, {
    TableName: to,
    FilterExpression: 'pk = :erased',
    ExpressionAttributeValues: { ':erased': collections.erased },
  }))
    for (const { record } of items) {
      const { id, content } = JSON.parse(String(record)) as { readonly id: string; readonly content: Tombstone };
      const Key = keys.order(id);
      const { Item } = await client.send(new GetCommand({ TableName: to, Key, ConsistentRead: true }));
      for (const { collection, id: letter } of content.deadLetters ?? [])
        await client.send(new DeleteCommand({ TableName: to, Key: { pk: collection, sk: letter } }));
      if (!Item || Item['erasedAt'] !== undefined) continue;
      const { key: _, ...order } = Item;
      const body = JSON.stringify(masked(JSON.parse(String(Item['body'])) as Json, content.pointers));
      await client.send(new PutCommand({ TableName: to, Item: { ...order, body, erasedAt: content.at } }));
      erased += 1;
    }
  return erased;
}

interface Tombstone {
  readonly at: number;
  /** The secret fields of the order. */
  readonly pointers: readonly string[];
  readonly deadLetters?: readonly { readonly collection: string; readonly id: string }[];
}

/**
 * Yields each order from after the backup that a restored order has called. If the restored caller does not call it again, only a person
 * can undo it.
 */
export async function* calledSince({ client, from, to }: Restoring): AsyncGenerator<CalledSince> {
  const isThere = async (orderId: string): Promise<boolean> =>
    (await client.send(new GetCommand({ TableName: from, Key: keys.order(orderId), ProjectionExpression: 'pk' }))).Item !== undefined;
  const filter = {
    TableName: to,
    FilterExpression: 'sk = :order AND attribute_exists(caller)',
    ExpressionAttributeValues: { ':order': keys.order('').sk },
  };
  for await (const items of pagesOf(client, filter))
    for (const { pk, caller, submittedAt } of items) {
      const orderId = orderIdIn(String(pk));
      const { orderId: callerId, path } = JSON.parse(String(caller)) as CallerRef;
      if (!(await isThere(orderId)) && (await isThere(callerId))) yield { orderId, submittedAt: Number(submittedAt), callerId, path };
    }
}

async function* pagesOf(
  client: DynamoDBDocumentClient,
  input: { readonly TableName: string; readonly FilterExpression?: string; readonly ExpressionAttributeValues?: Item },
): AsyncGenerator<readonly Item[]> {
  let start: Item | undefined;
  do {
    const page = await client.send(new ScanCommand({ ...input, ConsistentRead: true, ExclusiveStartKey: start }));
    yield page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start);
}

/**
 * Returns an item as it is to be written. For a state, it first removes the pages from after the backup, so that an interrupted copy can
 * start over.
 */
async function prepareRestore(restoring: Restoring, item: Item): Promise<Item> {
  if (item['sk'] !== keys.state('').sk) return item;
  const { client, to, countersAfter } = restoring;
  const { pk, sk, rev } = item as unknown as Key & Counters;
  const found = await keysIn(restoring, pk);
  const pages = found.filter((key) => isPage(key.sk) && revOf(key.sk) >= rev);
  await write(
    restoring,
    pages.map((Key) => ({ DeleteRequest: { Key } })),
  );
  const inUse = await client.send(new GetCommand({ TableName: to, Key: { pk, sk }, ConsistentRead: true }));
  const counters = countersAfter(item as Partial<Counters>, inUse.Item as Partial<Counters> | undefined);
  return { ...(await withCauses(restoring, item, { inUse: inUse.Item, found })), ...counters };
}

/** Returns the item of a state with the causes since its backup. An unreadable state stays as it is. */
async function withCauses(
  { client, to, causesAfter }: Restoring,
  item: Item,
  { inUse, found }: { readonly inUse: Item | undefined; readonly found: readonly Key[] },
): Promise<Item> {
  const head = readableHead(item);
  if (!head) return item;
  const documents: Document[] = [];
  const headInUse = inUse && readableHead(inUse);
  for (const Key of headInUse ? [] : found.filter(({ sk }) => isCauseRecord(sk))) {
    const record = await client.send(new GetCommand({ TableName: to, Key, ConsistentRead: true }));
    if (record.Item) documents.push(documentOf(record.Item));
  }
  const next = causesAfter(head, headInUse ?? documents);
  if (next === head) return item;
  const { set, remove } = headChange(next, item['expiresAt'] as number | undefined);
  return { ...Object.fromEntries(Object.entries(item).filter(([name]) => !remove.includes(name))), ...set };
}

function readableHead(item: Item): StateHead | undefined {
  try {
    return headOf(item);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

/** Returns the keys of everything that the table in use holds about an order. */
async function keysIn({ client, to }: Restoring, pk: string): Promise<readonly Key[]> {
  const found: Key[] = [];
  let start: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: to,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ProjectionExpression: 'pk, sk',
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    found.push(...((page.Items ?? []) as unknown as Key[]));
    start = page.LastEvaluatedKey;
  } while (start);
  return found;
}

/** Writes until DynamoDB has taken every item, with exponential backoff. */
async function write({ client, to }: Restoring, requests: readonly Request[]): Promise<void> {
  for (let first = 0; first < requests.length; first += batchMax) {
    let open = requests.slice(first, first + batchMax);
    for (let round = 0; open.length > 0; round++) {
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** Math.min(round, 8)));
      const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [to]: open as never } }));
      open = (UnprocessedItems?.[to] ?? []) as Request[];
    }
  }
}
