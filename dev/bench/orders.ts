import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { orderIdOf } from '#roles/submission/submission';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';

/**
 * Runs three-step orders end to end in one process, synced to disk, with agents that answer at once.
 *
 * `commitsPerSecond` is the baseline of the same run: nothing but small synced transactions, one after the other, on the same
 * disk.
 */
const Item = z.object({ id: z.string() });
const done = operation({ input: Item, output: Item, run: ({ id }) => ({ id }) });
const first = defineAgent('first', { work: done });
const second = defineAgent('second', { work: done });
const third = defineAgent('third', { work: done });
const workflow = defineWorkflow('three-steps', { version: 1, order: Item }, ({ order }) => {
  const one = first.work({ id: order.id }).named('one');
  const two = second.work({ id: one.output.id }).named('two');
  return sequence(one, two, third.work({ id: two.output.id }).named('three'));
});
const app = defineApp({ workflows: [workflow], agents: [first, second, third] });

async function measure(count: number, inFlight: number): Promise<Record<string, string | number>> {
  const folder = mkdtempSync(join(tmpdir(), 'redress-bench-'));
  const clock = systemClock;
  const { store: embedded, queues, publisher, database } = openEmbedded(folder, { clock });
  const waiting = new Map<string, () => void>();
  // The write that finishes an order notifies its waiter. Polling the store would be measured, too.
  const store: Store = {
    ...embedded,
    async update(state, when, along) {
      const write = await embedded.update(state, when, along);
      if (write.outcome === 'written' && state.processState === 'Processed') waiting.get(state.orderId)?.();
      return write;
    },
  };
  const telemetry = createTelemetry({ level: 'error' });
  const config = { ...readConfig({}), defaultWorkflow: 'three-steps' };
  const host = await startHost({
    app,
    config,
    ports: { store, queues, publisher, clock, telemetry, issuer: undefined as never, cursorKey: new Uint8Array() },
    load: loadFunction,
    without: ['api'],
  });

  let next = 0;
  const latencies: number[] = [];
  const one = async (key: string): Promise<void> => {
    const started = performance.now();
    const finished = new Promise<void>((resolve) => waiting.set(orderIdOf('bench', key), resolve));
    const submitted = await host.system.submit({ client: 'bench', idempotencyKey: key, order: { id: key } });
    if (submitted.outcome !== 'accepted') throw new Error(JSON.stringify(submitted));
    await finished;
    waiting.delete(submitted.order.orderId);
    latencies.push(performance.now() - started);
  };
  for (let warm = 0; warm < 200; warm++) await one(`warm-${warm}`);
  latencies.length = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) await one(`order-${next++}`);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  await host.stop();
  await database.close();
  rmSync(folder, { recursive: true });
  const at = (share: number) => Number((latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0).toFixed(2));
  const ordersPerSecond = Math.round(count / seconds);
  return {
    bench: 'orders',
    orders: count,
    inFlight,
    ordersPerSecond,
    commitsPerSecond,
    ratio: Number((ordersPerSecond / commitsPerSecond).toFixed(2)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerOrder: Number(((used.user + used.system) / 1000 / count).toFixed(3)),
    peakMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

function syncedCommitsPerSecond(count: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'redress-baseline-'));
  const database = new DatabaseSync(join(folder, 'baseline.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE lines (line TEXT)');
  const insert = database.prepare('INSERT INTO lines VALUES (?)');
  const started = performance.now();
  for (let line = 0; line < count; line++) insert.run('x'.repeat(200));
  const perSecond = count / ((performance.now() - started) / 1000);
  database.close();
  rmSync(folder, { recursive: true });
  return Math.round(perSecond);
}

const commitsPerSecond = syncedCommitsPerSecond(2000);
const runs = (process.env['BENCH_RUNS'] ?? '500x1 2000x50 2000x200').split(' ').map((run) => run.split('x').map(Number));
// These orders warm up: until the engine's code is compiled, an order takes up to a quarter more processor time.
await measure(4000, 50);
for (const [count = 0, inFlight = 1] of runs) process.stdout.write(`${JSON.stringify(await measure(count, inFlight))}\n`);
