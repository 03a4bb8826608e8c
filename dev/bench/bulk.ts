import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { createBulk } from '#roles/bulk/bulk';
import type { BulkRun } from '#roles/bulk/run';
import { orderIdOf } from '#roles/submission/submission';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';

/**
 * Bulk runs on one machine: the rate that a run of resubmitted orders holds, how much it slows other orders, and the time to prepare a
 * run of many orders. `BENCH_BULK=10000x100000` sets the numbers of orders: those of the first run, then those of the second one.
 */
const [applied = 10_000, prepared = 100_000] = (process.env['BENCH_BULK'] ?? '10000x100000').split('x').map(Number);
const rate = 100;
/** Other orders per second, and the seconds for which they run without a bulk run, for comparison. */
const others = { perSecond: 20, aloneSeconds: 20 };

const Item = z.object({ id: z.string() });
const Broken = fault('Broken');
let isSick = true;
const book = operation({ input: Item, output: Item, run: ({ id }) => ({ id }) });
const ship = operation({
  input: Item,
  output: Item,
  faults: [Broken],
  run: ({ id }, call) => (isSick && id.startsWith('sick') ? call.failed(Broken, 'The service is sick.') : { id }),
});
const warehouse = defineAgent('warehouse', { book, ship });
const deliver = defineWorkflow('deliver', { version: 1, order: Item, toOperator: [Broken] }, ({ order }) =>
  sequence(warehouse.book({ id: order.id }), warehouse.ship({ id: order.id })),
);
const app = defineApp({ workflows: [deliver], agents: [warehouse] });

const folder = mkdtempSync(join(tmpdir(), 'redress-bench-'));
const { store: embedded, queues, publisher, database } = openEmbedded(folder, { clock: systemClock });
const waiting = new Map<string, () => void>();
const store: Store = {
  ...embedded,
  async update(state, when, along) {
    const write = await embedded.update(state, when, along);
    if (write.outcome === 'written' && state.processState !== 'Processing') waiting.get(state.orderId)?.();
    return write;
  },
};
const telemetry = createTelemetry({ level: 'error' });
const host = await startHost({
  app,
  config: { ...readConfig({}), defaultWorkflow: 'deliver' },
  ports: { store, queues, publisher, clock: systemClock, telemetry, issuer: undefined as never, cursorKey: new Uint8Array() },
  load: loadFunction,
  without: ['api'],
});
const bulk = createBulk({ store, publisher, clock: systemClock, telemetry });

/** Submits an order, and waits until it is in Error or at its end. Resolves to the milliseconds that this took. */
async function played(key: string): Promise<number> {
  const started = performance.now();
  const stopped = new Promise<void>((resolve) => waiting.set(orderIdOf('bench', key), resolve));
  const submitted = await host.system.submit({ client: 'bench', idempotencyKey: key, order: { id: key } });
  if (submitted.outcome !== 'accepted') throw new Error(JSON.stringify(submitted));
  await stopped;
  waiting.delete(submitted.order.orderId);
  return performance.now() - started;
}

let sick = 0;
async function failed(upTo: number): Promise<void> {
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      while (sick < upTo) await played(`sick-${sick++}`);
    }),
  );
}

/** Plays good orders until `isOver`; resolves to the 99th percentile of their times, in milliseconds. */
async function p99Of(name: string, isOver: () => boolean): Promise<number> {
  const all: Promise<number>[] = [];
  while (!isOver()) {
    all.push(played(`${name}-${all.length}`));
    await sleep(1000 / others.perSecond);
  }
  const rising = (await Promise.all(all)).toSorted((a, b) => a - b);
  return rising[Math.floor(rising.length * 0.99)] ?? 0;
}

let runs = 0;
async function preparedRun(): Promise<{ readonly id: string; readonly seconds: number; readonly run: BulkRun }> {
  const started = performance.now();
  const draft = {
    filter: { fault: 'Broken' },
    instruction: { kind: 'resubmit' },
    by: 'bench',
    reason: 'bench',
    ratePerSecond: rate,
  } as const;
  const created = await bulk.create({ ...draft, starts: false, key: `run-${++runs}` }, () => []);
  if (created.outcome !== 'created') throw new Error(created.outcome);
  const run = await until(created.run.id, ({ state }) => state !== 'preparing');
  return { id: run.id, seconds: (performance.now() - started) / 1000, run };
}

async function until(id: string, isOver: (run: BulkRun) => boolean): Promise<BulkRun> {
  for (;;) {
    const run = await bulk.run(id);
    if (run && isOver(run)) return run;
    await sleep(100);
  }
}

const say = (line: string): void => void process.stderr.write(`bulk: ${line}\n`);
const rounded = (value: number): number => Number(value.toFixed(2));

await failed(applied);
say(`${applied} orders are in Error`);
const aloneEnds = performance.now() + others.aloneSeconds * 1000;
const alone = await p99Of('alone', () => performance.now() > aloneEnds);
const first = await preparedRun();
isSick = false;
const startedAt = performance.now();
await bulk.act(first.id, { action: 'start', by: 'bench', reason: 'bench' });
let isDone = false;
const [beside, end] = await Promise.all([
  p99Of('beside', () => isDone),
  until(first.id, ({ state }) => state === 'done' || state === 'stopped').then((run) => {
    isDone = true;
    return run;
  }),
]);
const seconds = (performance.now() - startedAt) / 1000;
const line = {
  bench: 'bulk',
  orders: applied,
  state: end.state,
  appliedOrders: end.counts.applied,
  ratePerSecond: rate,
  reachedPerSecond: rounded(end.counts.applied / seconds),
  p99AloneMs: rounded(alone),
  p99BesideMs: rounded(beside),
  p99Ratio: rounded(beside / alone),
};
process.stdout.write(`${JSON.stringify(line)}\n`);

isSick = true;
await failed(applied + prepared);
say(`${prepared} further orders are in Error`);
const many = await preparedRun();
await failed(applied + prepared + 1);
const tooMany = await preparedRun();
const { state, stopped } = tooMany.run;
const figures = { orders: many.run.set?.count, state: many.run.state, preparedSeconds: rounded(many.seconds) };
process.stdout.write(`${JSON.stringify({ bench: 'bulk-preparing', ...figures, oneMore: stopped?.code ?? state })}\n`);
await host.stop();
await database.close();
rmSync(folder, { recursive: true });
