import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { BatchWriteCommand, DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, orderItem, stateItem } from '#adapters/aws/dynamodb/items';
import { keys, listedKey, stateShardKey } from '#adapters/aws/dynamodb/keys';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import { createMeter, type Meter, totalOf } from '#adapters/aws/meter';
import { systemClock } from '#ports/clock';
import type { ListPosition, OrderFilter, Store } from '#ports/store';
import { dayOf } from '#ports/util/days';
import { playWithLostAgent } from '../../../dev/bench/played.ts';
import shop, { order } from '../../../dev/bench/shop.ts';
import { startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import { alone, idsOf, next, noon, orderRecord, put, stateRecord } from '../../support/records.ts';
import { listOf } from '../../support/workflows.ts';
import { openInvoked } from './invocations.ts';
import { clientsAt, createTable } from './support.ts';

const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus()]);
after(() => Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]));

interface Opened {
  readonly store: Store;
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly meter: Meter;
}

async function open(): Promise<Opened> {
  const { dynamodb } = clientsAt({ dynamodb: dynoxide.endpoint });
  const client = DynamoDBDocumentClient.from(dynamodb);
  const table = await createTable(dynamodb);
  const meter = createMeter();
  meter.attach(dynamodb);
  return { store: dynamoDbStore({ client, table, clock: systemClock }), client, table, meter };
}

const errorState = { processState: 'Error', worklist: 'error' } as const;
const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
const dayMs = 86_400_000;

/** Stores orders across the days of a month: some are blocked and all others are finished. */
async function stored({ client, table }: Opened, { count, inError }: { count: number; inError: number }): Promise<void> {
  const items = listOf(count, (index): Item[] => {
    const [orderId, submittedAt] = [`order-${index}`, noon + (index % 30) * dayMs + index];
    const isInError = index % (count / inError) === 0;
    return [
      orderItem(orderRecord(orderId, { submittedAt })),
      stateItem(stateRecord(orderId, { submittedAt, ...(isInError ? errorState : finished) })),
    ];
  }).flat();
  const days = listOf(30, (index): Item => ({ ...keys.day(dayOf(noon + index * dayMs)) }));
  const all = [...items, ...days];
  for (let start = 0; start < all.length; start += 25) {
    const RequestItems = { [table]: all.slice(start, start + 25).map((item) => ({ PutRequest: { Item: item } })) };
    await client.send(new BatchWriteCommand({ RequestItems }));
  }
}

async function costOf({ store, meter }: Opened, filter: OrderFilter, limit: number) {
  meter.reset();
  const { items } = await store.list(filter, undefined, limit);
  const { readUnits, requests } = totalOf(meter.entries());
  return { shown: items.length, readUnits, requests };
}

test('S23: a list of orders in Error costs in proportion to the orders that it shows, however many are finished; a filter without an index examines 1,000 orders a page', async (t) => {
  const few = await open();
  await stored(few, { count: 10, inError: 10 });
  const many = await open();
  await stored(many, { count: 2000, inError: 10 });
  const more = await open();
  await stored(more, { count: 2000, inError: 40 });

  const shown = await costOf(few, { state: 'Error' }, 10);
  // One query for each shard, and half a unit each for an order and its state.
  assert.deepEqual(shown, { shown: 10, readUnits: 16 / 2 + 10, requests: 17 });
  assert.deepEqual(await costOf(many, { state: 'Error' }, 10), shown);
  assert.deepEqual(await costOf(many, { state: 'Error', client: 'shop' }, 10), shown);
  assert.deepEqual(await costOf(many, { state: 'Error' }, 50), shown);
  assert.deepEqual(await costOf(more, { state: 'Error' }, 10), shown);
  assert.deepEqual(await costOf(more, { state: 'Error' }, 40), { shown: 40, readUnits: 16 / 2 + 40, requests: 17 });
  t.diagnostic(JSON.stringify({ tenInErrorAmongTwoThousand: shown }));

  let pages = 0;
  for (let after: ListPosition | undefined, isLast = false; !isLast; isLast = after === undefined, pages++)
    after = (await many.store.list({ outcome: 'canceled' }, after, 10)).next;
  assert.equal(pages, 3, 'the third page of 2,000 orders finds the end');
});

test("a query for a client's reference does not search the orders in Error", async () => {
  const opened = await open();
  for (const orderId of ['a', 'b', 'c']) await put(opened.store, orderId, errorState, orderId === 'a' ? { reference: 'r1' } : {});
  const cost = await costOf(opened, { state: 'Error', client: 'shop', reference: 'r1' }, 10);
  assert.deepEqual(cost, { shown: 1, readUnits: 0.5 + 1, requests: 2 });
});

for (const way of ['update', 'patch'] as const) {
  test(`an order that enters or leaves Error by the write "${way}" costs one index write, and other writes cost none`, async () => {
    const { store, meter } = await open();
    let last = await put(store, 'o1');
    const indexWrites: number[] = [];
    for (const processState of ['Processing', 'Error', 'Error', 'Processing', 'Processing'] as const) {
      const state = next(last, { processState });
      const { blob: _, ...head } = state;
      meter.reset();
      assert.deepEqual(await (way === 'update' ? store.update(state, last, alone) : store.patch(head, last)), { outcome: 'written' });
      indexWrites.push(totalOf(meter.entries()).indexWriteUnits);
      last = state;
    }
    assert.deepEqual(indexWrites, [0, 1, 0, 1, 0]);
  });
}

test('the supervisor lists an order in Error before it sends the alert, and a resubmission removes the order from the list', async (t) => {
  const endpoints = { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };
  const invoked = await openInvoked({ app: shop, endpoints, environment: { MAX_FAILURES: '0' } });
  t.after(() => invoked.close());
  const inError = () => invoked.store.list({ state: 'Error' }, undefined, 10).then(idsOf);
  const unitsOf = async (work: () => Promise<unknown>) => {
    invoked.reset();
    await work();
    const { writeUnits, indexWriteUnits } = totalOf(invoked.meter.entries());
    return { writeUnits, indexWriteUnits };
  };

  const orderId = await invoked.submit('order-1', { workflow: 'fulfil', order });
  const into = await unitsOf(playWithLostAgent(invoked));
  assert.deepEqual([await inError(), (await invoked.store.head(orderId))?.worklist], [[orderId], 'due']);

  const announceUnits = await unitsOf(invoked.settle);
  assert.deepEqual([await inError(), (await invoked.store.head(orderId))?.worklist], [[orderId], 'error']);
  const loaded = (await invoked.store.load(orderId)) ?? assert.fail();
  assert.equal(loaded.state.submittedAt, loaded.order.submittedAt, 'its position is that of the order');

  const instruction = { kind: 'resubmit', by: 'olga', reason: 'the agent is back' } as const;
  const out = await unitsOf(() => invoked.system.scheduler.instruct(orderId, instruction, { id: 'i-1' }));
  assert.deepEqual(await inError(), []);
  await invoked.settle();
  assert.equal((await invoked.store.head(orderId))?.processState, 'Processed');
  t.diagnostic(JSON.stringify({ into, announceUnits: announceUnits, out }));
});

test('an index entry of an order that is no longer in Error is skipped', async () => {
  const { store, client, table } = await open();
  await put(store, 'o1');
  await client.send(
    new UpdateCommand({
      TableName: table,
      Key: keys.state('o1'),
      UpdateExpression: 'SET errorShard = :shard, listedAt = :place',
      ExpressionAttributeValues: { ':shard': stateShardKey('error', 0), ':place': listedKey(noon, 'o1') },
    }),
  );
  assert.deepEqual(idsOf(await store.list({ state: 'Error' }, undefined, 10)), []);
  assert.deepEqual(idsOf(await store.list({}, undefined, 10)), ['o1']);
});

test('a state without its submission time is read and written as usual, but the list leaves it out', async () => {
  const { store, client, table } = await open();
  await put(store, 'o1');
  await client.send(new UpdateCommand({ TableName: table, Key: keys.state('o1'), UpdateExpression: 'REMOVE submittedAt' }));
  const head = (await store.head('o1')) ?? assert.fail();
  assert.deepEqual(await store.patch(next(head, errorState), head), { outcome: 'written' });
  const { state } = (await store.load('o1')) ?? assert.fail();
  assert.equal(state.processState, 'Error');
  assert.deepEqual(await store.update(next(state), state, alone), { outcome: 'written' });
  assert.deepEqual(idsOf(await store.list({ state: 'Error' }, undefined, 10)), []);
  assert.deepEqual(idsOf(await store.list({}, undefined, 10)), ['o1']);
});
