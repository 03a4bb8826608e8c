import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawingOf } from '#core/views/diagram';
import { lists, sortKey } from '#ports/lists';
import { countedMax } from '#ports/order-figures';
import { createTelemetry } from '#ports/telemetry';
import { closeChannel } from '#roles/channels/operate';
import { createOverviewKeeper } from '#roles/overview/keeper';
import { countUpTo } from '#roles/overview/overview';
import { card, startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const minuteMs = 60_000;

describe('the overview', () => {
  test('W-01: has the figures of orders, exceptions, tasks and channels, as the supervisor wrote them, without secrets', async () => {
    const { ask, submitOrder, orderInError, keeper, clock, store, queues } = startApi();
    await orderInError('a');
    await submitOrder('b');
    await submitOrder('c');
    const ended = await orderInError('d');
    const etag = (await ask('GET', `/orders/${ended}`, operator)).headers.get('etag') as string;
    const body = { kind: 'terminate', reason: 'no stock' };
    assert.equal((await ask('POST', `/orders/${ended}/instructions`, { ...operator, headers: { 'if-match': etag }, body })).status, 202);
    await queues.send([{ queue: 'payment-requests', body: '{}' }]);
    await clock.advance(7_000);
    await closeChannel('payment', 'payment-requests', { by: 'olga', reason: 'a trial', now: clock.now() }, store);
    await keeper.keep();

    const { status, json, text } = await ask('GET', '/overview', operator);
    assert.equal(status, 200);
    const rest = (await ask('GET', '/orders?limit=100', operator)).json.items as { processState: string }[];
    const inState = (state: string) => rest.filter(({ processState }) => processState === state).length;
    assert.partialDeepStrictEqual(json, {
      asOf: new Date(clock.now()).toISOString(),
      processing: inState('Processing'),
      pending: 0,
      error: inState('Error'),
      processedToday: inState('Processed'),
      oldestLiveSeconds: 7,
      tasks: { open: inState('Error'), mine: 0, overdue: 0 },
      exceptions: { open: inState('Error') },
      groups: [{ type: 'CardDeclined', open: inState('Error') }],
      channels: [{ name: 'payment', depth: 1, oldestSeconds: 7, open: false, outage: false }],
    });
    for (const state of ['Processing', 'Processed', 'Error']) assert.ok(inState(state) > 0, `the test has orders in ${state}`);
    assert.equal(json.perMinute.length, 60);
    const sum = (what: 'processed' | 'errors') =>
      json.perMinute.reduce((all: number, minute: Record<string, number>) => all + (minute[what] ?? 0), 0);
    assert.deepEqual([sum('processed'), sum('errors')], [inState('Processed'), 2]);
    assert.ok(!text.includes(card));
  });

  test('counts the tasks of the person who reads it, and the overdue tasks', async () => {
    const { ask, store, keeper, clock } = startApi();
    const sort = (index: number) => sortKey(clock.now() + index, `t${index}`);
    for (let index = 0; index < 3; index++)
      await store.putDocument(
        {
          collection: `ORDER#ord_${index}`,
          id: 'TASK#1',
          rev: 1,
          content: {},
          listA: { list: lists.openTasks, sort: sort(index) },
          ...(index < 2 ? { listB: { list: lists.tasksOfPerson('olga'), sort: sort(index) } } : {}),
        },
        0,
      );
    const claimed = { collection: 'ORDER#ord_4', id: 'TASK#1', rev: 1, content: {} };
    await store.putDocument({ ...claimed, listA: { list: lists.claimedTasks, sort: sort(0) } }, 0);
    await clock.advance(1);
    await keeper.keep();
    assert.deepEqual((await ask('GET', '/overview', operator)).json.tasks, { open: 3, claimed: 1, mine: 2, overdue: 2 });
    assert.equal((await ask('GET', '/overview', { as: 'admin' })).json.tasks.mine, 0);
  });

  test('keeps the counts of past minutes, and counts the newest minutes again', async () => {
    const { ask, keeper, clock, orderInError } = startApi();
    await orderInError('a');
    await keeper.keep();
    await clock.advance(10 * minuteMs);
    await orderInError('b');
    await keeper.keep();
    await clock.advance(minuteMs);
    await orderInError('c');
    await keeper.keep();
    const { perMinute } = (await ask('GET', '/overview', operator)).json as { perMinute: { at: string; errors: number }[] };
    const since = (at: string) => Math.round((clock.now() - Date.parse(at)) / minuteMs);
    assert.deepEqual(
      perMinute.flatMap(({ at, errors }) => (errors > 0 ? [[since(at), errors]] : [])),
      [
        [11, 1],
        [1, 1],
        [0, 1],
      ],
    );
  });

  test('answers 503 until the supervisor has written it once, and then says how old it is', async () => {
    const { ask, keeper, clock } = startApi();
    assert.equal((await ask('GET', '/overview', operator)).status, 503);
    await keeper.keep();
    const { asOf } = (await ask('GET', '/overview', operator)).json;
    await clock.advance(90_000);
    assert.equal((await ask('GET', '/overview', operator)).json.asOf, asOf);
  });

  test('counts no wake-up that an order has planned for later, but each one that is due', async () => {
    const { ask, clock, store, queues } = startApi();
    const telemetry = createTelemetry({ level: 'off' });
    const channels = [{ name: 'wake-ups', queues: ['wake-ups'], isAgent: false }];
    const keeper = createOverviewKeeper({ store, queues, clock, telemetry, everyMs: 1, channels });
    const figures = async () => {
      await keeper.keep();
      const { depth, oldestSeconds } = (await ask('GET', '/overview', operator)).json.channels[0];
      return [depth, oldestSeconds];
    };
    await queues.send([{ queue: 'wake-ups', body: '{}', delayMs: minuteMs }]);
    await clock.advance(7_000);
    assert.deepEqual(await figures(), [0, 0]);
    await clock.advance(minuteMs);
    assert.deepEqual(await figures(), [1, 67]);
  });

  test('has counts of at most ten thousand', () => {
    assert.deepEqual([countUpTo(countedMax - 1), countUpTo(countedMax)], [countedMax - 1, { atLeast: countedMax }]);
  });
});

describe('the workflows', () => {
  test('are listed with the number of unfinished orders of each version, even of a version that the app no longer has', async () => {
    const { ask, submitOrder, orderInError, database } = startApi();
    await orderInError('a');
    const orderId = await submitOrder('b');
    const row = '(SELECT id FROM orders WHERE orderId = ?)';
    await database.write(() =>
      database.prepare(`UPDATE states SET head = json_set(head, '$.workflow.version', 2) WHERE id = ${row}`).run(orderId),
    );
    const { items, next } = (await ask('GET', '/workflows', operator)).json;
    assert.equal(next, null);
    assert.partialDeepStrictEqual(items, [
      {
        name: 'fulfil-order',
        version: 3,
        versions: [
          { version: 3, live: 1, inApp: true },
          { version: 2, live: 1, inApp: false },
        ],
      },
    ]);
  });

  test('W-01: a version shows the orders at each step, running and blocked, and none of an order that has ended', async () => {
    const { ask, submitOrder, orderInError } = startApi();
    await orderInError('a');
    const ended = await orderInError('b');
    await submitOrder('c');
    await submitOrder('d');
    const etag = (await ask('GET', `/orders/${ended}`, operator)).headers.get('etag') as string;
    const body = { kind: 'terminate', reason: 'no stock' };
    await ask('POST', `/orders/${ended}/instructions`, { ...operator, headers: { 'if-match': etag }, body });
    const { json } = await ask('GET', '/workflows/fulfil-order/3', operator);
    const atWork = (json.steps as { path: string; running: number; blocked: number }[]).filter((each) => each.running + each.blocked > 0);
    assert.partialDeepStrictEqual(atWork, [
      { path: 'order/reserve', agent: 'stock', operation: 'reserve', running: 2, blocked: 0 },
      { path: 'order/charge', agent: 'payment', running: 0, blocked: 1 },
    ]);
    assert.deepEqual(json.versions, [{ version: 3, live: 3, inApp: true }]);
  });

  test('F-163: a version has its graph with the paths of its steps, and the handling of each fault', async () => {
    const { ask, definitions } = startApi();
    const { json } = await ask('GET', '/workflows/fulfil-order/3', operator);
    const definition = definitions.newest('fulfil-order')?.definition;
    assert.ok(definition);
    assert.deepEqual(json.graph, JSON.parse(JSON.stringify(drawingOf(definition).items)));
    const drawn = (JSON.stringify(json.graph).match(/"path":"[^"]+"/g) ?? []).map((text) => JSON.parse(`{${text}}`).path);
    for (const { path } of json.steps) assert.ok(drawn.includes(path), path);
    assert.ok(
      json.faults.some(({ path, fault }: { path: string; fault: string }) => path.endsWith('/charge') && fault.endsWith('CardDeclined')),
    );
    for (const path of ['/workflows/fulfil-order/4', '/workflows/fulfil-order/x', '/workflows/none/1'])
      assert.equal((await ask('GET', path, operator)).status, 404);
  });
});
