import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type App, type Call, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { createMeter, totalOf } from '#adapters/aws/meter';
import { openAws } from '#adapters/aws/open';
import { systemClock } from '#ports/clock';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { requestsIn } from '../../../dev/bench/budget.ts';
import { startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import { deploy } from './deploy.ts';
import { sized } from './invocations.ts';
import { meteredLoad } from './metered-load.ts';

const stepSeconds = 5;
const Item = z.object({ item: z.string() });

/** The times between the time limit of the crashed agent's step and its next request. */
const healedMs: number[] = [];
let deadBy = 0;

/** One agent crashes with its first request, and that attempt gets no reply. */
const run = async ({ item }: { item: string }, { path, attempt, signal, completeBy }: Call<string>) => {
  if (item !== 'poisoned tea' || !path.endsWith('charge')) return { done: true };
  if (attempt > 1) {
    healedMs.push(Date.now() - deadBy);
    return { done: true };
  }
  deadBy = completeBy.getTime();
  return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('dead'))));
};
const Done = z.object({ done: z.boolean() });
const shop = defineAgent('shop', {
  reserve: operation({ input: Item, output: Done, run }),
  charge: operation({ input: Item, output: Done, run }),
  ship: operation({ input: Item, output: Done, run }),
});
const fulfil = defineWorkflow('fulfil', { version: 1, order: Item }, ({ order: { item } }) =>
  sequence(shop.reserve({ item }), shop.charge({ item }), shop.ship({ item })),
);
const app: App = defineApp({ workflows: [fulfil], agents: [shop] });

const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus()]);
after(() => Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]));

const endpoints = { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };

async function finished(store: Store, orderId: string): Promise<StateHead> {
  for (const until = Date.now() + 30_000; ; await systemClock.sleep(20)) {
    const head = await store.head(orderId);
    if (head?.processState === 'Processed') return head;
    assert.ok(Date.now() < until, `${orderId} is ${head?.processState} (${head?.fault?.message ?? 'no fault'})`);
  }
}

test('twenty orders, one with a crashed agent, complete on the AWS protocols within the budget of requests', async (t) => {
  const meter = createMeter();
  const deployment = await deploy(app, endpoints);
  const aws = openAws(deployment, { clock: systemClock, endpoints, meter });
  const unmetered = openAws(deployment, { clock: systemClock, endpoints });
  const config = readConfig({
    DEFAULT_WORKFLOW: 'fulfil',
    LOG_LEVEL: 'off',
    STEP_COMPLETE_WITHIN_SECONDS: String(stepSeconds),
    SUPERVISOR_PERIOD_SECONDS: '1',
  });
  const { store, stateBytes } = sized(aws.store);
  const ports = {
    ...aws,
    store,
    clock: systemClock,
    telemetry: createTelemetry({ level: 'off' }),
    issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
    cursorKey: new Uint8Array(32),
  };
  const host = await startHost({ app, config, ports, load: meteredLoad(loadFunction, meter), without: ['api'] });
  t.after(async () => {
    await host.stop();
    aws.close();
    unmetered.close();
  });

  const orderIds: string[] = [];
  for (let index = 0; index < 20; index++) {
    const submission = { client: 'test', idempotencyKey: `order-${index}`, order: { item: index === 7 ? 'poisoned tea' : 'tea' } };
    const submitted = await meter.within({ role: 'api' }, () => host.system.submit(submission));
    assert.equal(submitted.outcome, 'accepted');
    if (submitted.outcome === 'accepted') orderIds.push(submitted.order.orderId);
  }
  const heads = await Promise.all(orderIds.map((orderId) => finished(unmetered.store, orderId)));

  assert.deepEqual(new Set(heads.map(({ outcome }) => outcome)), new Set(['completed']));
  assert.deepEqual(new Set(heads.map(({ failureCount }) => failureCount)), new Set([0]), 'the count goes when the step succeeds (F-176)');
  assert.equal(healedMs.length, 1);
  assert.ok((healedMs[0] ?? 0) < 10_000, `healed after ${healedMs[0]} ms`);

  // The first order of a day also records the day; every other order without failures costs exactly this.
  const entriesOf = (orderId: string | undefined) => meter.entries().filter((entry) => entry.orderId === orderId);
  for (const orderId of orderIds.filter((_, index) => index !== 0 && index !== 7)) {
    const calls = requestsIn(entriesOf(orderId));
    assert.deepEqual(calls, {
      'api TransactWriteItems': 1,
      'api SendMessageBatch': 1,
      'agent SendMessageBatch': 3,
      'scheduler BatchGetItem': 3,
      'scheduler PutItem': 3,
      'scheduler SendMessageBatch': 2,
    });
    assert.ok(stateBytes(orderId) < 2048, `the state had ${stateBytes(orderId)} bytes`);
  }
  const { requests, sentBytes, receivedBytes, ...units } = totalOf(entriesOf(orderIds[1]).filter(({ service }) => service === 'DynamoDB'));
  assert.deepEqual(units, { readUnits: 6, writeUnits: 14, indexWriteUnits: 4 });
  t.diagnostic(JSON.stringify({ goodOrder: { requests, ...units, sentBytes, receivedBytes, stateBytes: stateBytes(orderIds[1] ?? '') } }));
  t.diagnostic(JSON.stringify({ orderWithDeadAgent: requestsIn(entriesOf(orderIds[7])), healedMs: healedMs[0] }));
  t.diagnostic(JSON.stringify({ all: requestsIn(meter.entries()) }));
});
