import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, forEach, operation } from 'redress';
import * as z from 'zod';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { limits } from '#core/definition/definition';
import { type ManualClock, manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { readConfig } from '#runtime/config';
import { type Host, startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import type { Ports } from '#runtime/system';
import { redriveIn, topologyOf } from '#runtime/topology';
import { limitedStore, type Spent } from '../support/limited-store.ts';
import { submitted, timePasses } from './support.ts';

/** The default number of concurrent readers of one queue on AWS. */
const schedulersAtOnce = 48;
const batchesOfOneHost = 4;
/** The delay before a failed message is redelivered there. */
const deployedVisibilityMs = 180_000;

interface Wide {
  readonly hosts: readonly Host[];
  readonly clock: ManualClock;
  readonly embedded: Embedded;
  readonly spent: Spent;
  /** Idempotency keys in the order of their requests. */
  readonly requested: readonly string[];
  largestAtOnce(): number;
}

/** An order with a step of one to two seconds for each entry of its list. */
async function wide(context: TestContext, options: { readonly maxConcurrency?: number }): Promise<Wide> {
  const clock = manualClock();
  const requested: string[] = [];
  let [atOnce, largest] = [0, 0];
  const worker = defineAgent('worker', {
    pack: operation({
      input: z.object({ sku: z.string() }),
      output: z.object({}),
      run: async (_, { idempotencyKey }) => {
        requested.push(idempotencyKey);
        largest = Math.max(largest, ++atOnce);
        await clock.sleep(1000 + (requested.length % 100) * 10);
        atOnce--;
        return {};
      },
    }),
  });
  const workflow = defineWorkflow('wide', { version: 1, order: z.object({ skus: z.array(z.string()) }) }, ({ order }) =>
    forEach(order.skus, (sku) => worker.pack({ sku }), options),
  );
  const app = defineApp({ workflows: [workflow], agents: [worker] });
  const config = readConfig({ DEFAULT_WORKFLOW: 'wide', LOG_LEVEL: 'off', STEP_COMPLETE_WITHIN_SECONDS: '60', CLOCK_TOLERANCE_MS: '2000' });
  const embedded = openEmbedded(':memory:', { clock, redriveOf: redriveIn(topologyOf(app)), writesAndSendsAtomically: false });
  const { store, spent } = limitedStore(embedded.store, clock);
  const ports: Ports = {
    ...embedded,
    queues: {
      ...embedded.queues,
      receive: (queue, how) => embedded.queues.receive(queue, { ...how, visibilityMs: deployedVisibilityMs }),
    },
    store,
    clock,
    telemetry: createTelemetry({ level: 'off' }),
    issuer: { issuer: 'n', audience: 'n', keys: { keys: [] } },
    cursorKey: new Uint8Array(32),
  };
  const hosts = await Promise.all(
    Array.from({ length: schedulersAtOnce / batchesOfOneHost }, (_, index) =>
      startHost({ app, config, ports, load: loadFunction, hostId: `h${index}`, without: index === 0 ? ['api'] : notTwice }),
    ),
  );
  context.after(async () => {
    await timePasses(clock, Promise.all(hosts.map((host) => host.stop())));
    await embedded.database.close();
  });
  return { hosts, clock, embedded, spent, requested: requested, largestAtOnce: () => largest };
}

const notTwice = ['api', 'supervisor', 'sweeper'];

async function processed({ hosts: [host], clock, embedded: { store } }: Wide, turns: number): Promise<string> {
  const order = { skus: Array.from({ length: turns }, (_, index) => `sku-${index}`) };
  assert.ok(host);
  const orderId = await timePasses(
    clock,
    submitted({ submit: (body) => host.system.submit({ client: 'acme', idempotencyKey: 'k', order: body }) }, order),
  );
  while ((await store.head(orderId))?.processState === 'Processing') await clock.advance(500);
  return orderId;
}

describe('an order with a thousand iterations on a store with the throughput of one DynamoDB partition', () => {
  test(`F-84, S15: runs ${limits.concurrencyDefault} iterations in parallel by default: no failure counts, and a step costs less than four write units`, async (context) => {
    const at = await wide(context, {});
    const head = await at.embedded.store.head(await processed(at, 1000));
    assert.deepEqual([head?.processState, head?.outcome, head?.failureCount], ['Processed', 'completed', 0]);
    assert.deepEqual([at.requested.length, new Set(at.requested).size, at.largestAtOnce()], [1000, 1000, limits.concurrencyDefault]);
    assert.equal(at.spent.throttled, 0);
    assert.ok(at.spent.units <= 4 * 1000, `${at.spent.units} write units`);
  });

  test('F-84, S15: runs all iterations in parallel if the loop says so: throttled writes spread over time, and no failure counts', async (context) => {
    const at = await wide(context, { maxConcurrency: 300 });
    const head = await at.embedded.store.head(await processed(at, 300));
    assert.deepEqual([head?.processState, head?.outcome, head?.failureCount], ['Processed', 'completed', 0]);
    assert.deepEqual([at.requested.length, new Set(at.requested).size], [300, 300]);
    assert.ok(at.spent.refused < 2 * at.spent.written, `${at.spent.refused} refused, ${at.spent.written} written`);
  });
});
