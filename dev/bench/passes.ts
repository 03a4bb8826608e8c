import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { totalOf } from '#adapters/aws/meter';
import type { AwsEndpoints } from '#adapters/aws/open';
import type { SupervisorTask } from '#runtime/topology';
import { type Invoked, openInvoked } from '../../test/adapters/aws/invocations.ts';
import { startDynoxide } from '../../test/support/emulators.ts';
import { figuresOf, requestsIn } from './budget.ts';
import type { SupervisorReads } from './dollars.ts';
import { withEmulators } from './emulated.ts';
import type { Print } from './played.ts';
import shop, { order } from './shop.ts';
import { type Examples, type Stored, storedTable, storeOrders } from './stored-orders.ts';

const due = 10;
/** A sweep reads every live order separately, which is slow on the emulator. */
const sweptMax = 10_000;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the supervisor over ever more stored orders with a constant number of due ones. The cost must depend on the due ones alone. */
export async function printPasses(print: Print): Promise<SupervisorReads> {
  const examples = await withEmulators(startDynoxide, exampleOrders);
  const folder = mkdtempSync(join(tmpdir(), 'redress-stored-'));
  const sizes = (process.env['BENCH_STORED'] ?? '10 10000 100000').split(' ').map(Number);
  let reads: SupervisorReads = { unitsPerIdlePass: 0, unitsPerOrderSwept: 0 };
  try {
    for (const count of sizes) {
      const database = await storeOrders(folder, examples, { count, due, now: Date.now(), say });
      const start = () => startDynoxide(database);
      reads = { ...reads, ...(await withEmulators(start, (endpoints) => printPassesOver(count, endpoints, print))) };
      rmSync(database);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return reads;
}

async function printPassesOver(count: number, endpoints: AwsEndpoints, print: Print): Promise<Partial<SupervisorReads>> {
  const invoked = await openInvoked({ app: shop, endpoints, table: storedTable });
  const { Table: table } = await invoked.clients.dynamodb.send(new DescribeTableCommand({ TableName: storedTable }));
  const stored = { storedOrders: count, storedItems: table?.ItemCount };
  const look = async (task: SupervisorTask['task'], due: number) => {
    const { row, entries } = await lookOnce(invoked, task);
    print({ supervisor: task, ...stored, due, ...row });
    return entries;
  };
  await look('pass', due);
  const unitsPerIdlePass = totalOf(await look('pass', 0)).readUnits;
  const swept = count > sweptMax ? [] : await look('sweep', 0);
  invoked.close();
  const unitsOfScans = totalOf(swept.filter(({ operation }) => operation === 'Scan')).readUnits;
  return { unitsPerIdlePass, ...(unitsOfScans > 0 ? { unitsPerOrderSwept: unitsOfScans / count } : {}) };
}

async function lookOnce(invoked: Invoked, task: SupervisorTask['task']) {
  invoked.reset();
  const { looked, counted } = await invoked.run(task);
  const entries = invoked.meter.entries();
  const { readUnits, writeUnits, indexWriteUnits, tableRequests, queueRequests } = figuresOf(entries, 0);
  const row = { looked, counted, tableRequests, readUnits, writeUnits, indexWriteUnits, queueRequests, requests: requestsIn(entries) };
  return { row, entries };
}

async function exampleOrders(endpoints: AwsEndpoints): Promise<Examples> {
  const invoked = await openInvoked({ app: shop, endpoints });
  const orderId = await invoked.submit('example', { workflow: 'fulfil', order });
  const live = await invoked.store.load(orderId);
  await invoked.settle();
  const finished = await invoked.store.load(orderId);
  invoked.close();
  return { live: live as Stored, finished: finished as Stored };
}
