import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';

/**
 * `sh bin/run tools/copy-table.ts FROM TO`: puts every item of one table into another, over what has the same key there.
 * For restored tables, which nobody writes to: a copy of a table at work is of no one moment.
 */
const [from, to] = process.argv.slice(2);
if (!from || !to || from === to) {
  process.stderr.write('Name two tables: the one that is read, and the one that is written.\n');
  process.exit(2);
}

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
/** As many as DynamoDB takes at once. */
const batchMax = 25;

type Item = Record<string, unknown>;

const put = async (items: readonly Item[]): Promise<void> => {
  let open: { PutRequest: { Item: Item } }[] = items.map((item) => ({ PutRequest: { Item: item } }));
  for (let round = 0; open.length > 0; round++) {
    if (round > 0) await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** Math.min(round, 8)));
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [to]: open } }));
    open = (UnprocessedItems?.[to] ?? []) as typeof open;
  }
};

let copied = 0;
let start: ScanCommandInput['ExclusiveStartKey'];
do {
  const page = await client.send(new ScanCommand({ TableName: from, ConsistentRead: true, ExclusiveStartKey: start }));
  const items = page.Items ?? [];
  for (let first = 0; first < items.length; first += batchMax) await put(items.slice(first, first + batchMax));
  copied += items.length;
  start = page.LastEvaluatedKey;
} while (start);
process.stdout.write(`${copied} items from ${from} to ${to}\n`);
