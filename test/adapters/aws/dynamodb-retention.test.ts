import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Key, keys } from '#adapters/aws/dynamodb/keys';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { startDynoxide } from '../../support/emulators.ts';
import { alone, headOf, next, noon, orderRecord, put, stateRecord } from '../../support/records.ts';
import { clientsAt, createTable, interfere, retentionMs } from './support.ts';

const dynoxide = await startDynoxide();
after(() => dynoxide.stop());

interface Opened {
  readonly store: Store;
  readonly dynamodb: DynamoDBClient;
  /** The store of another process on the same table. Its calls are not intercepted. */
  readonly other: Store;
  readonly clock: { now: number };
  /** The expiry of each item, by its sort key. */
  ends(): Promise<{ readonly [place: string]: number | undefined }>;
  /** Sets the expiry of an item, whatever the state says. */
  setEnd(key: Key, expiresAt: number): Promise<void>;
  /** Removes an item as DynamoDB's time-to-live does after its expiry. */
  remove(key: Key): Promise<void>;
}

async function open(): Promise<Opened> {
  const [{ dynamodb }, another] = [clientsAt({ dynamodb: dynoxide.endpoint }), clientsAt({ dynamodb: dynoxide.endpoint })];
  const table = await createTable(dynamodb);
  const clock = { now: noon };
  const storeOf = (client: DynamoDBClient): Store =>
    dynamoDbStore({
      client: DynamoDBDocumentClient.from(client),
      table,
      clock: { now: () => clock.now, sleep: async () => {} },
      retentionMs,
    });
  const client = DynamoDBDocumentClient.from(another.dynamodb);
  return {
    store: storeOf(dynamodb),
    other: storeOf(another.dynamodb),
    dynamodb,
    clock,
    async ends() {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
      return Object.fromEntries(Items.filter(({ pk }) => pk !== 'DAYS').map(({ sk, expiresAt }) => [sk, expiresAt]));
    },
    async setEnd(Key, expiresAt) {
      const UpdateExpression = 'SET expiresAt = :expiresAt';
      await client.send(
        new UpdateCommand({ TableName: table, Key, UpdateExpression, ExpressionAttributeValues: { ':expiresAt': expiresAt } }),
      );
    },
    remove: async (Key) => void (await client.send(new DeleteCommand({ TableName: table, Key }))),
  };
}

const end = (noon + retentionMs) / 1000;
const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
const goingOn = { processState: 'Processing', outcome: null, worklist: 'due', worklistAt: noon } as const;
const note = { orderId: 'o1', idempotencyKey: 'pay/1', requestId: 'r1' };
const undoPage = { entries: [{ path: 'order/a', generation: 1 }] };
const places = ['HISTORY#0000000001', 'ORDER', 'STATE', 'UNDO#1', 'pay/1'];
const allAt = (expiresAt: number | undefined) => Object.fromEntries(places.map((place) => [place, expiresAt]));

/** An order with every kind of item, just before it finishes. */
async function atWork(store: Store): Promise<StateRecord> {
  const state = await put(store, 'o1');
  await store.putPage('o1', 1, [{ seq: 1 }]);
  await store.putUndoPage('o1', 1, undoPage);
  await store.recordIntent(note);
  return state;
}

async function finish(store: Store, state: StateRecord): Promise<StateRecord> {
  const over = next(state, finished);
  assert.deepEqual(await store.update(over, state, alone), { outcome: 'written' });
  return over;
}

for (const how of ['update', 'patch'] as const) {
  test(`X-39: an order that continues after it was finished loses the expiry of its state and of its other items (${how})`, async () => {
    const { store, ends, clock } = await open();
    const over = await finish(store, await atWork(store));
    assert.deepEqual(await ends(), allAt(end));
    const undoing = next(over, goingOn);
    const write = how === 'update' ? store.update(undoing, over, alone) : store.patch(headOf(undoing), over);
    assert.deepEqual(await write, { outcome: 'written' });
    assert.deepEqual(await ends(), allAt(undefined));
    clock.now += 2 * retentionMs;
    assert.deepEqual([(await store.load('o1'))?.state, await store.pages('o1')], [undoing, [[{ seq: 1 }]]]);
  });
}

test('X-39: if a process crashes while it reopens an order, the order stays finished and whole, and a redelivery reopens it', async () => {
  const { store, other, dynamodb, ends } = await open();
  const over = await finish(store, await atWork(store));
  const undoing = next(over, goingOn);
  let crashes = false;
  const dying = async (proceed: () => Promise<unknown>) => {
    if (crashes) throw new Error('it died');
    return proceed().finally(() => (crashes = true));
  };
  for (const operation of ['UpdateItem', 'Query', 'PutItem']) interfere(dynamodb, operation, dying);
  await assert.rejects(store.update(undoing, over, alone));
  assert.equal((await other.load('o1'))?.state.processState, 'Processed');
  assert.deepEqual(await other.update(undoing, over, alone), { outcome: 'written' });
  assert.deepEqual(await ends(), allAt(undefined));
});

for (const operation of ['Query', 'UpdateItem']) {
  test(`X-39: a process that stalled while it finished an order sets no expiry on an order that continued meanwhile (${operation})`, async () => {
    const { store, other, dynamodb, ends } = await open();
    const state = await atWork(store);
    const over = next(state, finished);
    let stoodStill = false;
    interfere(dynamodb, operation, async (proceed) => {
      if (stoodStill) return proceed();
      stoodStill = true;
      assert.deepEqual(await other.update(next(over, goingOn), over, alone), { outcome: 'written' });
      await other.recordIntent({ ...note, idempotencyKey: 'undo/1' });
      return proceed();
    });
    await finish(store, state);
    assert.deepEqual(await ends(), { ...allAt(undefined), 'undo/1': undefined });
  });
}

test('X-39: a process that reopens an order and loses the race leaves the expiry as it is', async () => {
  const { store, other, dynamodb, ends } = await open();
  const over = await finish(store, await atWork(store));
  const continued = next(over, { updatedAt: noon + 5000 });
  interfere(dynamodb, 'Query', async (proceed) => {
    const found = await proceed();
    await other.update(continued, over, alone);
    return found;
  });
  assert.deepEqual(await store.update(next(over, goingOn), over, alone), { outcome: 'refused', current: continued });
  assert.deepEqual(await ends(), allAt(end + 5));
});

test('X-39: an order that expires while a process reopens it no longer exists', async () => {
  const { store, clock } = await open();
  const over = await finish(store, await atWork(store));
  clock.now = noon + retentionMs + 1000;
  assert.deepEqual(await store.update(next(over, goingOn), over, alone), { outcome: 'refused', current: null });
});

test('X-39: the state item alone decides whether an order exists', async () => {
  const { store, setEnd } = await open();
  const state = await put(store, 'o1');
  await setEnd(keys.order('o1'), noon / 1000 - 1);
  assert.deepEqual((await store.load('o1'))?.state, state);
  assert.equal((await store.list({}, undefined, 10)).items.length, 1);
});

const endsOnlyItsState = { ...allAt(undefined), STATE: end };

/** Finishes an order; its process crashes before the other items have their expiry. */
async function crashAtTheEnd({ store, dynamodb, ends }: Opened): Promise<void> {
  const state = await atWork(store);
  let isDead = true;
  interfere(dynamodb, 'Query', (proceed) => (isDead ? Promise.reject(new Error('it died')) : proceed()));
  await finish(store, state);
  isDead = false;
  assert.deepEqual(await ends(), endsOnlyItsState);
}

test('X-39: if a process crashes while it finishes an order, the next load sets the expiry of the other items', async () => {
  const opened = await open();
  await crashAtTheEnd(opened);
  assert.equal((await opened.other.load('o1'))?.state.processState, 'Processed');
  assert.deepEqual(await opened.ends(), allAt(end));
});

test('X-10, X-39: an item that conflicts with another transaction at the end of an order still gets its expiry, and the submission gets its expiry last', async () => {
  const { store, dynamodb, ends } = await open();
  const state = await atWork(store);
  let conflicts = 3;
  interfere(dynamodb, 'UpdateItem', async (proceed) => {
    assert.equal((await ends())['ORDER'], undefined);
    if (conflicts-- <= 0) return proceed();
    throw Object.assign(new Error('met another one'), { name: 'TransactionConflictException' });
  });
  await finish(store, state);
  assert.deepEqual(await ends(), allAt(end));
});

for (const isRemoved of [true, false]) {
  test(`X-39: leftovers of an order whose state ${isRemoved ? 'is removed' : 'has ended'} do not prevent a new submission under its id`, async () => {
    const opened = await open();
    const { store, other, clock, remove, ends } = opened;
    await crashAtTheEnd(opened);
    for (let rev = 2; rev <= 12; rev++) await store.putUndoPage('o1', rev, undoPage);
    clock.now += retentionMs + 1000;
    if (isRemoved) await remove(keys.state('o1'));

    const again = orderRecord('o1', { body: 'anew', submittedAt: clock.now });
    assert.deepEqual(await store.create(again, stateRecord('o1', { submittedAt: clock.now }), alone), { outcome: 'written' });
    assert.deepEqual([(await other.load('o1'))?.order, await other.pages('o1')], [again, []]);
    assert.equal((await ends())['UNDO#12'], clock.now / 1000 - 1);
    const page = { entries: [{ path: 'order/b', generation: 1 }] };
    await other.putUndoPage('o1', 1, page);
    assert.deepEqual(await other.undoPage('o1', 1), page);
    assert.equal((await other.recordIntent({ ...note, requestId: 'r2' })).outcome, 'recorded');
    assert.equal((await other.create(orderRecord('o1'), stateRecord('o1'), alone)).outcome, 'exists');
  });
}

test('X-39, S10: if items of an expired order are left, one of ten concurrent submissions under its id is written', async () => {
  const opened = await open();
  const { store, other, clock, remove } = opened;
  await crashAtTheEnd(opened);
  clock.now += retentionMs + 1000;
  await remove(keys.state('o1'));
  const orders = Array.from({ length: 10 }, (_, index) => orderRecord('o1', { hash: `h${index}`, submittedAt: clock.now }));
  const answers = await Promise.all(orders.map((order, index) => (index % 2 ? store : other).create(order, stateRecord('o1'), alone)));
  const winner = (await store.load('o1'))?.order;
  assert.equal(answers.filter(({ outcome }) => outcome === 'written').length, 1);
  for (const answer of answers) if (answer.outcome === 'exists') assert.deepEqual(answer.order, winner);
});

test("X-39: a process that stalled while an order was submitted again leaves the new order's items alone", async () => {
  const opened = await open();
  const { store, other, dynamodb, clock, remove, ends } = opened;
  await crashAtTheEnd(opened);
  clock.now += retentionMs + 1000;
  await remove(keys.state('o1'));
  const again = orderRecord('o1', { body: 'anew', submittedAt: clock.now });
  let transactions = 0;
  interfere(dynamodb, 'TransactWriteItems', async (proceed) => {
    if (++transactions === 2) {
      assert.deepEqual(await other.create(again, stateRecord('o1'), alone), { outcome: 'written' });
      await other.putUndoPage('o1', 1, undoPage);
    }
    return proceed();
  });
  assert.deepEqual(await store.create(orderRecord('o1', { submittedAt: clock.now + 1 }), stateRecord('o1'), alone), {
    outcome: 'exists',
    order: again,
  });
  assert.equal((await ends())['UNDO#1'], undefined);
});

const caller = { caller: { orderId: 'o1', path: 'order/call', requestId: 'r', attempt: 1, epoch: 1 } };

for (const operation of ['PutItem', 'GetItem'])
  test(`S22: a called order expires with its caller, even if both finish at the same moment (${operation})`, async () => {
    const { store, other, dynamodb, clock } = await open();
    const parent = await put(store, 'o1');
    const child = await put(store, 'o2', {}, caller);
    let finishes = false;
    interfere(dynamodb, operation, async (proceed) => {
      const answer = await proceed();
      if (!finishes) {
        finishes = true;
        await finish(other, parent);
      }
      return answer;
    });
    await store.update(next(child, finished), child, alone);
    assert.ok(finishes);
    assert.equal((await other.load('o2'))?.state.outcome, 'completed');
    clock.now += retentionMs + 2000;
    assert.deepEqual([await other.head('o1'), await other.head('o2')], [undefined, undefined]);
  });

test('S22: if a process crashes at the end of a calling order, the next load finishes its work', async () => {
  const { store, other, dynamodb, clock } = await open();
  const parent = await put(store, 'o1');
  const child = await put(store, 'o2', {}, caller);
  await other.update(next(child, finished), child, alone);
  const crashed = async () => {
    throw new Error('it died');
  };
  interfere(dynamodb, 'Query', crashed);
  await finish(store, parent);
  await other.load('o1');
  clock.now += retentionMs + 2000;
  assert.equal(await other.head('o2'), undefined);
});

test('S22: without a retention, a called order costs no further write', async () => {
  const { dynamodb } = clientsAt({ dynamodb: dynoxide.endpoint });
  const table = await createTable(dynamodb);
  const client = DynamoDBDocumentClient.from(dynamodb);
  const store = dynamoDbStore({ client, table, clock: { now: () => noon, sleep: async () => {} } });
  await put(store, 'o1');
  const child = await put(store, 'o2', {}, caller);
  await store.update(next(child, finished), child, alone);
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
  assert.equal(Items.filter(({ pk }) => pk.startsWith('ORDER#')).length, 4);
  dynamodb.destroy();
});
