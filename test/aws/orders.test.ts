import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type App, type Call, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { type AwsConfig, openAws } from '../../lib/aws.ts';
import { systemClock } from '../../lib/clock.ts';
import { readConfig } from '../../lib/config.ts';
import { startHost } from '../../lib/host/host.ts';
import { loadFunction } from '../../lib/host/load.ts';
import { queues as queuesOf } from '../../lib/messages.ts';
import { createMeter, type MeterEntry, meteredLoad, totalOf } from '../../lib/meter.ts';
import type { StateHead, StateRecord } from '../../lib/record.ts';
import type { Store } from '../../lib/store.ts';
import { stateItem } from '../../lib/stores/dynamodb/items.ts';
import { createTelemetry } from '../../lib/telemetry.ts';
import { redriveIn, topologyOf } from '../../lib/topology.ts';
import { startDynoxide, startEventBus, startFauxqs } from '../support/emulators.ts';
import { clientsAt, createQueue, createTable, itemBytes } from './support.ts';

const stepSeconds = 5;
const Item = z.object({ item: z.string() });

/** How long after its time the step whose agent died was asked again. */
const healedMs: number[] = [];
let deadBy = 0;

/** One agent takes a request and dies of it: nobody ever hears of that asking again. */
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

/** A table, the queues of the topology with their dead letters, and a bus: what the stack makes, made by hand. */
async function deploy(): Promise<AwsConfig> {
  const { dynamodb, sqs } = clientsAt(endpoints);
  const queuePrefix = 'orders-';
  const table = await createTable(dynamodb);
  const functions = topologyOf(app);
  const queues = [queuesOf.setAside, ...functions.flatMap(({ sources }) => sources.map(({ queue }) => queue))];
  const deadLettersFirst = queues.toSorted((a, b) => Number(b.endsWith('-dead')) - Number(a.endsWith('-dead')));
  for (const queue of deadLettersFirst) await createQueue(sqs, queuePrefix, queue, redriveIn(functions)(queue));
  return { region: 'eu-central-1', table, queuePrefix, bus: 'redress' };
}

/** The largest state of each order that was ever written. */
const largest = new Map<string, number>();
function sized(store: Store): Store {
  const note = (state: StateRecord): void =>
    void largest.set(state.orderId, Math.max(itemBytes(stateItem(state)), largest.get(state.orderId) ?? 0));
  return {
    ...store,
    create(order, state, along) {
      note(state);
      return store.create(order, state, along);
    },
    update(state, when, along) {
      note(state);
      return store.update(state, when, along);
    },
  };
}

async function finished(store: Store, orderId: string): Promise<StateHead> {
  for (const until = Date.now() + 30_000; ; await systemClock.sleep(20)) {
    const head = await store.head(orderId);
    if (head?.processState === 'Processed') return head;
    assert.ok(Date.now() < until, `${orderId} is ${head?.processState} (${head?.fault?.message ?? 'no fault'})`);
  }
}

/** Calls by role and operation: `scheduler PutItem: 3`. */
const callsIn = (entries: readonly MeterEntry[]): { readonly [call: string]: number } =>
  Object.fromEntries(
    [...Map.groupBy(entries, ({ role, operation }) => `${role} ${operation}`)].map(([call, its]) => [call, totalOf(its).requests]),
  );

test('twenty orders end well on the protocols of AWS, one of them after its agent died, within the budget of requests', async (t) => {
  const meter = createMeter();
  const deployment = await deploy();
  const aws = openAws(deployment, { clock: systemClock, endpoints, meter });
  const unmetered = openAws(deployment, { clock: systemClock, endpoints });
  const config = readConfig({
    DEFAULT_WORKFLOW: 'fulfil',
    LOG_LEVEL: 'off',
    STEP_COMPLETE_WITHIN_SECONDS: String(stepSeconds),
    SUPERVISOR_PERIOD_SECONDS: '1',
  });
  const ports = {
    ...aws,
    store: sized(aws.store),
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
  assert.deepEqual(
    heads.filter(({ failureCount }) => failureCount > 0).map(({ orderId }) => orderId),
    [orderIds[7]],
  );
  assert.equal(healedMs.length, 1);
  assert.ok((healedMs[0] ?? 0) < 10_000, `healed after ${healedMs[0]} ms`);

  // The first order of a day also notes the day; every other good one costs this, and nothing else.
  const entriesOf = (orderId: string | undefined) => meter.entries().filter((entry) => entry.orderId === orderId);
  for (const orderId of orderIds.filter((_, index) => index !== 0 && index !== 7)) {
    const calls = callsIn(entriesOf(orderId));
    assert.deepEqual(calls, {
      'api TransactWriteItems': 1,
      'api SendMessageBatch': 1,
      'agent SendMessageBatch': 3,
      'scheduler BatchGetItem': 3,
      'scheduler PutItem': 3,
      'scheduler SendMessageBatch': 2,
    });
    assert.ok((largest.get(orderId) ?? 0) < 2048, `the state had ${largest.get(orderId)} bytes`);
  }
  const { requests, sentBytes, receivedBytes, ...units } = totalOf(entriesOf(orderIds[1]).filter(({ service }) => service === 'DynamoDB'));
  assert.deepEqual(units, { readUnits: 6, writeUnits: 16, indexWriteUnits: 4 });
  t.diagnostic(JSON.stringify({ goodOrder: { requests, ...units, sentBytes, receivedBytes, stateBytes: largest.get(orderIds[1] ?? '') } }));
  t.diagnostic(JSON.stringify({ orderWithDeadAgent: callsIn(entriesOf(orderIds[7])), healedMs: healedMs[0] }));
  t.diagnostic(JSON.stringify({ all: callsIn(meter.entries()) }));
});
