import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { isPage, keys, orderIdIn, revOf } from '#adapters/aws/dynamodb/keys';
import type { CallerRef } from '#ports/records';
import { type Counters, countersAfterRestore } from '#roles/repair/restore';

/**
 * `sh bin/run dev/tools/restore-table.ts FROM TO` copies every item of a restored table into another table, and overwrites
 * items with the same key.
 *
 * Each order continues with unused numbers, and its pages from after the backup are removed, because old and new writes must
 * not mix. Intents of agents and orders from after the backup stay.
 *
 * The tool prints the orders that restored orders have called since the backup: if such a caller takes another way this time,
 * only a person can undo them. No process may use either table meanwhile. The tool can be repeated.
 */
const [from, to] = process.argv.slice(2);
if (!from || !to || from === to) {
  process.stderr.write('Name two tables: the one that is read, and the one that is written.\n');
  process.exit(2);
}

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
/** DynamoDB's maximum per request. */
const batchMax = 25;

type Item = Record<string, unknown>;
type Key = { readonly pk: string; readonly sk: string };
type Request = { readonly PutRequest: { readonly Item: Item } } | { readonly DeleteRequest: { readonly Key: Key } };

async function write(requests: readonly Request[]): Promise<void> {
  for (let first = 0; first < requests.length; first += batchMax) {
    let open = requests.slice(first, first + batchMax);
    for (let round = 0; open.length > 0; round++) {
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** Math.min(round, 8)));
      const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [String(to)]: open as never } }));
      open = (UnprocessedItems?.[String(to)] ?? []) as Request[];
    }
  }
}

/** Returns the pages that an order has stored since its restored revision. */
async function pagesSince(pk: string, rev: number): Promise<readonly Key[]> {
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
    found.push(...((page.Items ?? []) as Key[]));
    start = page.LastEvaluatedKey;
  } while (start);
  return found.filter(({ sk }) => isPage(sk) && revOf(sk) >= rev);
}

/** Removes the newer pages first, so that an interrupted run can start over. */
async function restored(item: Item): Promise<Item> {
  if (item['sk'] !== 'STATE') return item;
  const { pk, sk, rev } = item as unknown as Key & Counters;
  await write((await pagesSince(pk, rev)).map((Key) => ({ DeleteRequest: { Key } })));
  const inUse = await client.send(new GetCommand({ TableName: to, Key: { pk, sk }, ConsistentRead: true }));
  return { ...item, ...countersAfterRestore(item as Partial<Counters>, inUse.Item as Partial<Counters> | undefined) };
}

const isThere = async (orderId: string): Promise<boolean> =>
  (await client.send(new GetCommand({ TableName: from, Key: keys.order(orderId), ProjectionExpression: 'pk' }))).Item !== undefined;

/** Prints a line for each order from after the backup that a restored order has called. */
async function linesOf({ pk, caller, submittedAt }: Item): Promise<readonly string[]> {
  const orderId = orderIdIn(String(pk));
  const { orderId: callerId, path } = JSON.parse(String(caller)) as CallerRef;
  if ((await isThere(orderId)) || !(await isThere(callerId))) return [];
  return [`${orderId} was called since, at ${new Date(Number(submittedAt)).toISOString()}, by ${path} of ${callerId}\n`];
}

async function printCalledSince(): Promise<void> {
  let start: Item | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: to,
        FilterExpression: 'sk = :order AND attribute_exists(caller)',
        ExpressionAttributeValues: { ':order': keys.order('').sk },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    for (const item of page.Items ?? []) for (const line of await linesOf(item)) process.stdout.write(line);
    start = page.LastEvaluatedKey;
  } while (start);
}

let copied = 0;
let start: Item | undefined;
do {
  const page = await client.send(new ScanCommand({ TableName: from, ConsistentRead: true, ExclusiveStartKey: start }));
  const items = page.Items ?? [];
  for (let first = 0; first < items.length; first += batchMax) {
    const batch = await Promise.all(items.slice(first, first + batchMax).map(restored));
    await write(batch.map((Item) => ({ PutRequest: { Item } })));
  }
  copied += items.length;
  if (process.stderr.isTTY) process.stderr.write(`\r${copied} items`);
  start = page.LastEvaluatedKey;
} while (start);
process.stdout.write(`${copied} items from ${from} to ${to}\n`);
await printCalledSince();
