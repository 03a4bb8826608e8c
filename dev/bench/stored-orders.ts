import { execFile } from 'node:child_process';
import { createWriteStream, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { dynoxide } from 'redress-emulators';
import { type Item, orderItem, stateItem } from '#adapters/aws/dynamodb/items';
import { tableShape } from '#adapters/aws/dynamodb/table';
import type { OrderRecord, StateRecord } from '#ports/records';
import { orderIdOf } from '#roles/submission/submission';

export interface Stored {
  readonly order: OrderRecord;
  readonly state: StateRecord;
}

/** A running order and a finished one, as the system itself has stored them. All others are copies of these. */
export interface Examples {
  readonly live: Stored;
  readonly finished: Stored;
}

export interface Wanted {
  readonly count: number;
  /** Number of overdue orders. Of all others, every second one is finished, and every second one is due in one to two hours. */
  readonly due: number;
  readonly now: number;
  /** Receives the progress. */
  readonly say?: (text: string) => void;
}

export const storedTable = 'stored-orders';

/** Bytes of one order on disk. An order takes them twice: in the export, and in the database. */
const bytesEach = 8_000;

/**
 * Makes a database of dynoxide that holds these orders, by way of a DynamoDB export. Writing a million items one by one would
 * take a quarter of an hour.
 */
export async function storeOrders(folder: string, examples: Examples, wanted: Wanted): Promise<string> {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * wanted.count * bytesEach) throw new Error(`There is no room in ${folder} for ${wanted.count} orders.`);
  const source = join(folder, 'export');
  const data = join(source, storedTable, 'data');
  const schema = join(folder, 'schema.json');
  const database = join(folder, `${wanted.count}.db`);
  mkdirSync(data, { recursive: true });
  writeFileSync(schema, JSON.stringify({ Table: { TableName: storedTable, ...tableShape } }));
  await pipeline(Readable.from(linesOf(examples, wanted)), createGzip({ level: 1 }), createWriteStream(join(data, 'orders.json.gz')));
  wanted.say?.(`${wanted.count} orders made; importing them`);
  await promisify(execFile)(dynoxide, ['import', '--source', source, '--schema', schema, '--output', database]);
  rmSync(source, { recursive: true });
  return database;
}

const chunkOrders = 100;

function* linesOf(examples: Examples, wanted: Wanted): Generator<string> {
  for (let start = 0; start < wanted.count; start += chunkOrders) {
    let chunk = '';
    for (let index = start; index < Math.min(start + chunkOrders, wanted.count); index++)
      for (const item of itemsOf(examples, wanted, index)) chunk += `${JSON.stringify({ Item: wireOf(item) })}\n`;
    if (start > 0 && start % 100_000 === 0) wanted.say?.(`${start} of ${wanted.count} orders made`);
    yield chunk;
  }
}

const hourMs = 3_600_000;

function itemsOf({ live, finished }: Examples, { due, now }: Wanted, index: number): readonly Item[] {
  const isDue = index < due;
  const { order, state } = isDue || index % 2 === 0 ? live : finished;
  const orderId = orderIdOf('stored', String(index));
  const at = isDue ? now - hourMs : now + hourMs + (index % hourMs);
  const deadline = state.worklist === null ? {} : { nextDueAt: at, worklistAt: at, completeBy: at };
  return [orderItem({ ...order, orderId }), stateItem({ ...state, orderId, ...deadline })];
}

const wireOf = (item: Item): object =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, typeof value === 'number' ? { N: String(value) } : { S: value }]));
