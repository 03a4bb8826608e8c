import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ConditionalCheckFailedException, type DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { absent, anyOf, conditionInput, expiredBy, fencedBy } from '#adapters/aws/dynamodb/conditions';
import { stateItem } from '#adapters/aws/dynamodb/items';
import { partitionOf } from '#adapters/aws/dynamodb/keys';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import { createMeter } from '#adapters/aws/meter';
import { type Clock, systemClock } from '#ports/clock';
import { StoreRefusesError, StoreUnavailableError } from '#ports/errors';
import type { OrderPage, Store } from '#ports/store';
import { startDynoxide } from '../../support/emulators.ts';
import { alone, headOf, next, noon, orderRecord, put, stateRecord } from '../../support/records.ts';
import { clientsAt, createTable, interfere, itemBytes, retentionMs } from './support.ts';

const dynoxide = await startDynoxide();
after(() => dynoxide.stop());

interface Opened {
  readonly store: Store;
  readonly dynamodb: DynamoDBClient;
  readonly table: string;
  /** The times that the store slept between its attempts. */
  readonly slept: readonly number[];
}

async function open({ retention = true }: { retention?: boolean } = {}): Promise<Opened> {
  const { dynamodb } = clientsAt({ dynamodb: dynoxide.endpoint });
  const table = await createTable(dynamodb);
  const slept: number[] = [];
  const clock: Clock = { now: () => noon, sleep: async (ms) => void slept.push(ms) };
  const store = dynamoDbStore({
    client: DynamoDBDocumentClient.from(dynamodb),
    table,
    clock,
    random: () => 0.5,
    ...(retention ? { retentionMs } : {}),
  });
  return { store, dynamodb, table, slept };
}

const itemsOf = async ({ dynamodb, table }: Opened, orderId: string): Promise<readonly Record<string, unknown>[]> => {
  const input = { TableName: table, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': partitionOf(orderId) } };
  return (await DynamoDBDocumentClient.from(dynamodb).send(new QueryCommand(input))).Items ?? [];
};

const canceled = (...codes: string[]) =>
  new TransactionCanceledException({ message: 'canceled', $metadata: {}, CancellationReasons: codes.map((Code) => ({ Code })) });
const named = (name: string, status: number) =>
  Object.assign(new Error('told to fail'), { name, $fault: status < 500 ? 'client' : 'server', $metadata: { httpStatusCode: status } });

const isUnavailable = (fatal: boolean) => (error: unknown) => error instanceof StoreUnavailableError && error.fatal === fatal;

test('the condition of a write is plain data, which a test can compare', () => {
  assert.deepEqual(conditionInput(fencedBy({ epoch: 2, rev: 7 })), {
    ConditionExpression: '#epoch = :loadedEpoch AND #rev = :loadedRev',
    ExpressionAttributeNames: { '#epoch': 'epoch', '#rev': 'rev' },
    ExpressionAttributeValues: { ':loadedEpoch': 2, ':loadedRev': 7 },
  });
  assert.deepEqual(conditionInput(absent), { ConditionExpression: 'attribute_not_exists(#pk)', ExpressionAttributeNames: { '#pk': 'pk' } });
  assert.equal(anyOf(absent, expiredBy(5)).expression, '(attribute_not_exists(#pk)) OR (#expiresAt < :nowSeconds)');
});

test('the item of a state leaves out null, false and empty lists', () => {
  const item = stateItem(stateRecord('o1', { nextDueAt: null, nextDueFor: null }));
  assert.deepEqual(
    Object.entries(item).filter(([, value]) => value === null || value === undefined || value === '[]' || value === false),
    [],
  );
  assert.ok(itemBytes(item) < 500, `${itemBytes(item)} bytes`);
});

test('X-10: a transaction that conflicts is retried with growing pauses until it succeeds', async () => {
  const opened = await open();
  let conflicts = 3;
  interfere(opened.dynamodb, 'TransactWriteItems', (proceed) =>
    conflicts-- > 0 ? Promise.reject(canceled('None', 'TransactionConflict')) : proceed(),
  );
  assert.deepEqual(await opened.store.create(orderRecord('o1'), stateRecord('o1'), alone), { outcome: 'written' });
  assert.deepEqual(opened.slept, [20, 40, 80]);
});

test('X-10: endless conflicts become a temporary outage after a bounded number of attempts', async () => {
  const opened = await open();
  let tries = 0;
  interfere(opened.dynamodb, 'TransactWriteItems', () => {
    tries += 1;
    return Promise.reject(canceled('TransactionConflict', 'None'));
  });
  await assert.rejects(opened.store.create(orderRecord('o1'), stateRecord('o1'), alone), isUnavailable(false));
  assert.equal(tries, 8);
  assert.ok(opened.slept.every((ms) => ms <= 500));
});

test('X-9: throttled calls are retried within a budget, and then become a temporary outage', async () => {
  const { store, dynamodb } = await open();
  const meter = createMeter();
  meter.attach(dynamodb);
  interfere(dynamodb, 'BatchGetItem', () => Promise.reject(named('ProvisionedThroughputExceededException', 400)), 'request');
  await assert.rejects(store.load('o1'), isUnavailable(false));
  assert.deepEqual(
    meter.entries().map(({ operation, requests, failed }) => [operation, requests, failed]),
    [['BatchGetItem', 4, true]],
  );
});

for (const [what, error, throttled] of [
  ['one item of a transaction was throttled', canceled('None', 'ThrottlingError'), true],
  ['the partition takes no more', canceled('ProvisionedThroughputExceeded'), true],
  ['the transaction only met another one', canceled('TransactionConflict', 'None'), false],
] as const)
  test(`X-9, S15: when ${what}, the outage says that the store ${throttled ? 'was throttled' : 'was not throttled'}`, async () => {
    const { store, dynamodb } = await open();
    interfere(dynamodb, 'TransactWriteItems', () => Promise.reject(error));
    await assert.rejects(
      store.create(orderRecord('o1'), stateRecord('o1'), alone),
      (thrown) => thrown instanceof StoreUnavailableError && thrown.throttled === throttled,
    );
  });

test('F-63: when DynamoDB will never accept an item of a transaction, the store refuses the write instead of reporting an outage', async () => {
  const { store, dynamodb } = await open();
  interfere(dynamodb, 'TransactWriteItems', () => Promise.reject(canceled('None', 'ValidationError')));
  await assert.rejects(store.create(orderRecord('o1'), stateRecord('o1'), alone), StoreRefusesError);
});

for (const [name, message, fatal] of [
  ['AccessDeniedException', 'not authorized to perform: dynamodb:GetItem', true],
  ['UnrecognizedClientException', 'The security token is invalid', true],
  ['AccessDeniedException', 'not authorized to perform: kms:Decrypt', false],
] as const) {
  test(`X-50: the error "${message}" ${fatal ? 'needs an operator' : 'is temporary, since keys are rotated without a restart'}`, async () => {
    const { store, dynamodb } = await open();
    interfere(dynamodb, 'GetItem', () => Promise.reject(Object.assign(named(name, 400), { message })));
    await assert.rejects(store.head('o1'), isUnavailable(fatal));
  });
}

test('a missing table needs an operator', async () => {
  const { dynamodb } = clientsAt({ dynamodb: dynoxide.endpoint });
  const store = dynamoDbStore({ client: DynamoDBDocumentClient.from(dynamodb), table: 'no-such-table', clock: systemClock });
  await assert.rejects(store.load('o1'), isUnavailable(true));
  await assert.rejects(store.update(stateRecord('o1'), { epoch: 1, rev: 1 }, alone), isUnavailable(true));
});

test('X-47: a DynamoDB that does not answer is a temporary outage', async () => {
  const { dynamodb } = clientsAt({});
  const store = dynamoDbStore({ client: DynamoDBDocumentClient.from(dynamodb), table: 'redress', clock: systemClock });
  await assert.rejects(store.load('o1'), isUnavailable(false));
});

test('a programming error passes through unchanged', async () => {
  const { store } = await open();
  await assert.rejects(store.putPage('o1', 1, [{ seq: 1n as unknown as number }]), TypeError);
});

test("X-2: if the answer to a write is lost, the SDK's retry is refused, and the refusal shows that the write succeeded", async () => {
  const { store, dynamodb } = await open();
  const state = stateRecord('o1');
  await store.create(orderRecord('o1'), state, alone);
  let lost = 1;
  interfere(
    dynamodb,
    'PutItem',
    async (proceed) => {
      const result = await proceed();
      if (lost-- > 0) throw Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
      return result;
    },
    'request',
  );
  const written = next(state, { writeIds: [{ id: 'mine', rev: 2 }] });
  assert.deepEqual(await store.update(written, state, alone), { outcome: 'refused', current: written });
});

test('X-2: if the answer to a patch is lost, the store finds out that it has written the patch', async () => {
  const { store, dynamodb } = await open();
  const state = await put(store, 'o1');
  let lost = 1;
  interfere(
    dynamodb,
    'UpdateItem',
    async (proceed) => {
      const result = await proceed();
      if (lost-- > 0) throw Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
      return result;
    },
    'request',
  );
  const noted = next(headOf(state), { notes: [{ at: noon, type: 'OrderReset', failureCount: 1 }] });
  assert.deepEqual(await store.patch(noted, state), { outcome: 'written' });
  assert.equal(lost, 0, 'the SDK repeated it');
  assert.deepEqual(await store.head('o1'), noted);
  assert.equal((await store.patch(next(noted, { failureCount: 2 }), state)).outcome, 'refused', 'another writer still loses its race');
});

test('X-2: a client that repeats a submission after a lost answer learns that its own submission was written', async () => {
  const { store } = await open();
  const state = stateRecord('o1', { writeIds: [{ id: 'mine', rev: 1 }] });
  assert.deepEqual(await store.create(orderRecord('o1'), state, alone), { outcome: 'written' });
  assert.deepEqual(await store.create(orderRecord('o1'), state, alone), { outcome: 'written' });
  const other = await store.create(orderRecord('o1'), { ...state, writeIds: [{ id: 'other', rev: 1 }] }, alone);
  assert.equal(other.outcome, 'exists');
});

test('a refusal contains the item in plain values, although the SDK returns the item in wire format', async () => {
  const { store, dynamodb } = await open();
  const state = stateRecord('o1');
  await store.create(orderRecord('o1'), state, alone);
  const wire: unknown[] = [];
  interfere(dynamodb, 'PutItem', (proceed) =>
    proceed().catch((error: unknown) => {
      if (error instanceof ConditionalCheckFailedException) wire.push(error.Item?.['rev']);
      throw error;
    }),
  );
  assert.deepEqual(await store.update(state, { epoch: 9, rev: 9 }, alone), { outcome: 'refused', current: state });
  assert.deepEqual(wire, [{ N: '1' }]);
});

test('A15: a refused patch returns the head that won, and never requests the whole item', async () => {
  const { store, dynamodb } = await open();
  const { blob, ...head } = stateRecord('o1');
  await store.create(orderRecord('o1'), { ...head, blob }, alone);
  const returned: unknown[] = [];
  interfere(dynamodb, 'UpdateItem', (proceed) =>
    proceed().catch((error: unknown) => {
      if (error instanceof ConditionalCheckFailedException) returned.push(error.Item);
      throw error;
    }),
  );
  assert.deepEqual(await store.patch(head, { epoch: 9, rev: 9 }), { outcome: 'refused', current: head });
  assert.deepEqual(returned, [undefined]);
});

test('the store requests the items of a batch that DynamoDB has not processed', async () => {
  const opened = await open();
  const { store, dynamodb, table, slept } = opened;
  await store.create(orderRecord('o1'), stateRecord('o1'), alone);
  let partly = true;
  interfere(dynamodb, 'BatchGetItem', async (proceed) => {
    const result = (await proceed()) as { output: { Responses: Record<string, Record<string, unknown>[]>; UnprocessedKeys: unknown } };
    if (!partly) return result;
    partly = false;
    const [first, ...rest] = result.output.Responses[table] ?? [];
    const Keys = rest.map(({ pk, sk }) => ({ pk, sk }));
    return { ...result, output: { ...result.output, Responses: { [table]: [first] }, UnprocessedKeys: { [table]: { Keys } } } };
  });
  assert.equal((await store.load('o1'))?.state.rev, 1);
  assert.equal(slept.length, 1);
});

test('X-39: the write that finishes an order gives all its items one expiry; no other item has one', async () => {
  const opened = await open();
  const { store } = opened;
  const state = stateRecord('o1');
  await store.create(orderRecord('o1'), state, alone);
  await store.putPage('o1', 1, [{ seq: 1 }]);
  await store.putUndoPage('o1', 1, { entries: [] });
  const endsOf = async () => new Set((await itemsOf(opened, 'o1')).map(({ expiresAt }) => expiresAt));
  const withMessages = next(state, { processState: 'Processed', outcome: 'completed', worklist: 'due', updatedAt: noon });
  await store.update(withMessages, state, alone);
  assert.deepEqual(await endsOf(), new Set([undefined]), 'it still has unsent messages');

  const { blob: _, ...finished } = next(withMessages, { worklist: null, worklistAt: null });
  await store.patch(finished, withMessages);
  assert.deepEqual((await itemsOf(opened, 'o1')).length, 4);
  assert.deepEqual(await endsOf(), new Set([(noon + retentionMs) / 1000]));
  assert.equal((await store.load('o1'))?.state.processState, 'Processed');
});

const intent = { orderId: 'o1', idempotencyKey: 'o1/order/pay/1', requestId: 'r1' };

test('X-39, X-20: an expired intent counts as gone before DynamoDB removes it', async () => {
  const { store } = await open();
  const state = stateRecord('o1');
  await store.create(orderRecord('o1'), state, alone);
  await store.recordIntent(intent);
  const finished = { processState: 'Processed', worklist: null, worklistAt: null, updatedAt: noon - retentionMs - 1000 } as const;
  await store.update(next(state, finished), state, alone);
  assert.equal((await store.recordIntent({ ...intent, requestId: 'r2' })).outcome, 'recorded');
});

test('X-20: if the answer to recording an intent is lost, the writer recognizes its own intent', async () => {
  const { store, dynamodb } = await open();
  let calls = 0;
  const losing = async (proceed: () => Promise<unknown>) => {
    calls += 1;
    const result = await proceed();
    if (calls === 1) throw named('InternalServerError', 500);
    return result;
  };
  interfere(dynamodb, 'PutItem', losing, 'request');
  assert.equal((await store.recordIntent(intent)).outcome, 'recorded');
  assert.equal(calls, 2, 'it was repeated');
  assert.deepEqual(await store.recordIntent(intent), { outcome: 'refused', requestId: 'r1' });
});

test('X-20: withdrawing an intent leaves a newer intent of another delivery alone', async () => {
  const { store } = await open();
  const note = await store.recordIntent(intent);
  assert.ok(note.outcome === 'recorded');
  await note.withdraw();
  await store.recordIntent(intent);
  await note.withdraw();
  assert.equal((await store.recordIntent(intent)).outcome, 'refused');
});

test('X-39: leftover pages of an expired order do not belong to a new order with the same id', async () => {
  const { store } = await open();
  const past = noon - retentionMs - 1000;
  const state = stateRecord('o1', { updatedAt: past });
  const page = (path: string) => ({ entries: [{ path, generation: 1 }] });
  await store.create(orderRecord('o1'), state, alone);
  await store.putPage('o1', 1, [{ seq: 1 }]);
  await store.putUndoPage('o1', 1, page('order/old'));
  await store.update(next(state, { processState: 'Processed', worklist: null, worklistAt: null }), state, alone);
  await store.putPage('o1', 1, [{ seq: 2 }]);
  await store.putUndoPage('o1', 1, page('order/new'));
  assert.deepEqual([await store.pages('o1'), await store.undoPage('o1', 1)], [[[{ seq: 2 }]], page('order/new')]);
});

test('without a retention, finished orders are kept forever', async () => {
  const opened = await open({ retention: false });
  const state = stateRecord('o1');
  await opened.store.create(orderRecord('o1'), state, alone);
  await opened.store.update(next(state, { processState: 'Processed', worklist: null, worklistAt: null }), state, alone);
  assert.deepEqual(new Set((await itemsOf(opened, 'o1')).map(({ expiresAt }) => expiresAt)), new Set([undefined]));
});

test('X-39: an expired order counts as gone before DynamoDB removes it', async () => {
  const opened = await open();
  const { store } = opened;
  const finished = { processState: 'Processed', worklist: null, worklistAt: null } as const;
  const past = noon - retentionMs - 1000;
  await store.create(orderRecord('o1'), stateRecord('o1', { ...finished, updatedAt: past }), alone);
  assert.equal((await itemsOf(opened, 'o1')).length, 2);
  assert.deepEqual(
    [await store.load('o1'), await store.head('o1'), await store.list({}, undefined, 10)],
    [undefined, undefined, { items: [] }],
  );
  assert.deepEqual(await store.create(orderRecord('o1', { body: 'anew' }), stateRecord('o1'), alone), { outcome: 'written' });
  assert.equal((await store.load('o1'))?.order.body, 'anew');
});

test('a list over many days queries only days with orders', async () => {
  const { store, dynamodb } = await open();
  const day = 86_400_000;
  const ages = [0, 1, 40, 400, 4000];
  for (const age of ages) await put(store, `age-${age}`, {}, { submittedAt: noon - age * day });
  const meter = createMeter();
  meter.attach(dynamodb);
  assert.deepEqual(
    (await store.list({ client: 'shop' }, undefined, 10)).items.map(({ order }) => order.orderId),
    ages.map((age) => `age-${age}`),
  );
  assert.deepEqual(
    meter.entries().map(({ operation }) => operation),
    [...Array.from({ length: 1 + ages.length }, () => 'Query'), 'BatchGetItem'],
  );
});

test('a list whose filter matches almost no orders returns its page in time, with the position to continue at', async () => {
  const { dynamodb } = clientsAt({ dynamodb: dynoxide.endpoint });
  const table = await createTable(dynamodb);
  const store = dynamoDbStore({ client: DynamoDBDocumentClient.from(dynamodb), table, clock: systemClock, lookedMax: 60 });
  const day = 86_400_000;
  const rare = 'order-10';
  for (let index = 0; index < 150; index++) {
    const orderId = `order-${index}`;
    await put(store, orderId, orderId === rare ? { outcome: 'canceled' } : {}, { submittedAt: noon + index * (day / 10) });
  }
  const meter = createMeter();
  meter.attach(dynamodb);
  const pages: OrderPage[] = [];
  do {
    meter.reset();
    pages.push(await store.list({ outcome: 'canceled' }, pages.at(-1)?.next, 10));
    assert.ok(meter.entries().length < 250, `${meter.entries().length} requests for one page`);
  } while (pages.at(-1)?.next);
  assert.ok(pages.length >= 3);
  assert.deepEqual(
    pages.flatMap(({ items }) => items.map(({ order }) => order.orderId)),
    [rare],
  );
});

test('F-57: a sweep finds every waiting order, and reads no finished ones, however many there are', async () => {
  const { store } = await open();
  for (const orderId of ['live', 'blocked', 'over'])
    await store.create(
      orderRecord(orderId),
      stateRecord(orderId, {
        worklist: null,
        worklistAt: null,
        ...(orderId === 'over' ? { processState: 'Processed', nextDueAt: null, nextDueFor: null } : {}),
      }),
      alone,
    );
  assert.deepEqual((await store.sweep(undefined, 10)).ids.toSorted(), ['blocked', 'live']);
});
