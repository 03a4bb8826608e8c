import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';
import {
  type Desk,
  failed,
  journalOf,
  lineOf,
  nothing,
  noting,
  ok,
  openDesk,
  reaches,
  started,
  stepsIn,
  stepsNamed,
  submitted,
  temporaryFolder,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack', 'ship'));

describe('the steps of an order', () => {
  test('F-32: have their start and end recorded', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const stages: string[] = [];
    const look = async () =>
      stages.push(
        (await stepsIn(desk, orderId))
          .map(
            ({ name, status, result, startedAt, closedAt }) =>
              `${name} ${result ?? status}${startedAt === null ? '' : ' started'}${closedAt === null ? '' : ' closed'}`,
          )
          .join(', '),
      );
    await look();
    for (let step = 0; step < 3; step++) {
      await desk.clock.advance(1_000);
      await desk.answer(await desk.request());
      await look();
    }
    assert.deepEqual(stages, [
      'pick Executing started, pack Initialized, ship Initialized',
      'pick Succeeded started closed, pack Executing started, ship Initialized',
      'pick Succeeded started closed, pack Succeeded started closed, ship Executing started',
      'pick Succeeded started closed, pack Succeeded started closed, ship Succeeded started closed',
    ]);
    const journal = (await journalOf(desk, orderId)).filter((entry) => 'path' in entry && entry.path === 'order/pack');
    assert.deepEqual(
      journal.map(({ type, at }) => [type, at - Date.UTC(2026, 0, 1)]),
      [
        ['StepRequested', 1_000],
        ['ActivityClosed', 2_000],
      ],
    );
  });

  test('F-33: have deadlines while they run, never after the deadline of the order', async (context) => {
    const worker = defineAgent('worker', {
      quick: operation({ input: z.object({}), output: z.object({}), completeWithinSeconds: 3, run: () => ({}) }),
      slow: operation({ input: z.object({}), output: z.object({}), completeWithinSeconds: 60, run: () => ({}) }),
      usual: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    });
    const workflow = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }), completeWithinSeconds: 40 }, () =>
      parallel(worker.quick({}), worker.slow({}), worker.usual({})),
    );
    const desk = openDesk(context, defineApp({ workflows: [workflow], agents: [worker] }), {
      variables: { STEP_COMPLETE_WITHIN_SECONDS: '20' },
    });
    const orderId = await submitted(desk);
    const start = desk.clock.now();
    const inSeconds = (at: number | null) => (at === null ? null : (at - start) / 1000);
    assert.deepEqual(
      (await stepsIn(desk, orderId)).map(({ name, completeBy }) => [name, inSeconds(completeBy)]),
      [
        ['quick', 3],
        ['slow', 40],
        ['usual', 20],
      ],
    );
    assert.equal(inSeconds((await desk.state(orderId)).completeBy), 40, 'the order is due when the last of them is');
    for (const request of await desk.requests()) assert.ok(Date.parse(request.completeBy) <= start + 40_000);
  });

  test('F-34: send requests with all that an agent needs, and nothing else', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    assert.deepEqual(desk.messages('worker-requests'), [
      {
        v: 1,
        type: 'request',
        requestId: `${orderId}/order/pick/1#1.1`,
        orderId,
        path: 'order/pick',
        operation: 'pick',
        attempt: 1,
        epoch: 1,
        completeBy: new Date(desk.clock.now() + 10_000).toISOString(),
        remainingMs: 10_000,
        idempotencyKey: `${orderId}/order/pick/1`,
        input: { orderId, item: 'tea' },
      },
    ]);
  });

  test('F-34: get the outputs of earlier steps', async (context) => {
    const stock = defineAgent('stock', {
      reserve: operation({ input: z.object({}), output: z.object({ id: z.string() }), run: () => ({ id: 'never' }) }),
      take: operation({ input: z.object({ id: z.string() }), output: z.object({}), run: () => ({}) }),
    });
    const workflow = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => {
      const reserve = stock.reserve({});
      return sequence(reserve, stock.take({ id: reserve.output.id }));
    });
    const desk = openDesk(context, defineApp({ workflows: [workflow], agents: [stock] }));
    await submitted(desk);
    await desk.answer(await desk.request('stock'), ok({ id: 'r-7' }), { agent: 'stock' });
    assert.deepEqual((await desk.request('stock')).input, { id: 'r-7' });
  });

  test('F-36, F-35: each use the request queue and the reply queue of their own agent', async (context) => {
    const stock = defineAgent('stock', { pick: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
    const parcels = defineAgent('parcels', { ship: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
    const app = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => sequence(stock.pick({}), parcels.ship({}))),
      ],
      agents: [stock, parcels],
    });
    const desk = openDesk(context, app);
    const orderId = await submitted(desk);
    const flow: string[] = [];
    for (const queue of ['stock-requests', 'stock-replies', 'parcels-requests', 'parcels-replies']) {
      flow.push(`${queue} ${desk.messages(queue).length}`);
      await desk.deliver(queue);
    }
    assert.deepEqual(flow, ['stock-requests 1', 'stock-replies 1', 'parcels-requests 1', 'parcels-replies 1']);
    assert.equal((await desk.state(orderId)).processState, 'Processed');
  });

  test('F-46: run in parallel if they do not depend on each other', async (context) => {
    const worker = defineAgent('worker', {
      pack: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
      tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    });
    const app = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => parallel(worker.pack({}), worker.tell({}))),
      ],
      agents: [worker],
    });
    const desk = openDesk(context, app);
    const orderId = await submitted(desk);
    const [pack, tell] = await desk.requests();
    await desk.clock.advance(2_000);
    assert.ok(pack && tell);
    await desk.answer(tell);
    assert.equal((await desk.state(orderId)).processState, 'Processing', 'the order waits for both');
    await desk.clock.advance(2_000);
    await desk.answer(pack);
    const [first, second] = await stepsIn(desk, orderId);
    assert.ok(
      first && second && Number(first.startedAt) < Number(second.closedAt) && Number(second.startedAt) < Number(first.closedAt),
      'they overlap in time',
    );
    assert.equal((await desk.state(orderId)).processState, 'Processed');
  });

  test('F-46: accept two replies of one batch in one write', async (context) => {
    const worker = defineAgent('worker', {
      pack: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
      tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    });
    const app = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => parallel(worker.pack({}), worker.tell({}))),
      ],
      agents: [worker],
    });
    const desk = openDesk(context, app);
    const orderId = await submitted(desk);
    await desk.deliver('worker-requests');
    assert.equal(await desk.deliver('worker-replies'), 0);
    const { rev, processState } = await desk.state(orderId);
    assert.deepEqual({ rev, processState }, { rev: 2, processState: 'Processed' });
  });
});

describe('one idempotency key for one effect', () => {
  /** Returns the keys of a step over everything that has it requested again. */
  async function keysOver(desk: Desk, orderId: string): Promise<readonly string[]> {
    const keys: string[] = [];
    const note = async () => {
      const request = await desk.request();
      keys.push(`${request.requestId.slice(orderId.length)} ${request.idempotencyKey.slice(orderId.length)}`);
      return request;
    };
    await note();
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    await desk.answer(await note(), failed('Busy', 'not now', { permanent: false }));
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    await note();
    return keys;
  }

  test('F-44: every attempt of a step has a new request id and the same idempotency key', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    assert.deepEqual(await keysOver(desk, orderId), [
      '/order/pick/1#1.1 /order/pick/1',
      '/order/pick/1#1.2 /order/pick/1',
      '/order/pick/1#1.3 /order/pick/1',
    ]);
  });

  test('F-44: an order that is reset as a whole is claimed again and requests under the same keys', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack'), { recover: 'order' }));
    const orderId = await submitted(desk);
    assert.deepEqual(await keysOver(desk, orderId), [
      '/order/pick/1#1.1 /order/pick/1',
      '/order/pick/1#3.2 /order/pick/1',
      '/order/pick/1#5.3 /order/pick/1',
    ]);
  });

  test('F-44: a request that is delivered three times has one effect and advances the order once', async (context) => {
    const keys: string[] = [];
    const desk = openDesk(context, lineOf({ charge: (_, { idempotencyKey }) => noting(keys, idempotencyKey, {}), ship: nothing }));
    const orderId = await submitted(desk);
    const request = await desk.request();
    for (let copy = 0; copy < 3; copy++) await desk.send('worker-requests', request);
    await desk.deliver('worker-requests');
    await desk.deliver('worker-replies');
    assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
    assert.deepEqual(
      (await desk.requests()).map(({ path }) => path),
      ['order/ship'],
    );
    assert.equal((await journalOf(desk, orderId)).filter(({ type }) => type === 'ActivityClosed').length, 1);
  });
});

describe('when a host crashes', () => {
  test('F-28: between step 2 and 3 of 5, a new host continues: steps 1 and 2 ran once, the others run', async (context) => {
    const dataFolder = temporaryFolder(context);
    const ran: string[] = [];
    const step = (name: string) => operation({ input: z.object({}), output: z.object({}), run: () => noting(ran, name, {}) });
    const early = defineAgent('early', { one: step('one'), two: step('two') });
    const late = defineAgent('late', { three: step('three'), four: step('four'), five: step('five') });
    const five = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
          sequence(early.one({}), early.two({}), late.three({}), late.four({}), late.five({})),
        ),
      ],
      agents: [early, late],
    });

    const killed = await startSystem(five, { dataFolder, hostId: 'host-one', without: ['agent-late'] });
    const orderId = await submitted(killed);
    await killed.clock.advance(1_000);
    await killed.database.close();
    assert.deepEqual(ran, ['one', 'two']);

    const system = await started(context, five, { dataFolder, hostId: 'host-two', clock: killed.clock });
    await reaches(system, orderId, 'Processed');
    assert.deepEqual(ran, ['one', 'two', 'three', 'four', 'five']);
    const steps = await stepsIn({ ...system, system: system.host.system }, orderId);
    assert.deepEqual(
      steps.map(({ attempts }) => attempts),
      [1, 1, 1, 1, 1],
    );
  });

  test('F-28: the next host completes the orders in flight at every stage', async (context) => {
    const dataFolder = temporaryFolder(context);
    const keys: string[] = [];
    const count = (_: object, { idempotencyKey }: { idempotencyKey: string }) => noting(keys, idempotencyKey, {});
    const three = lineOf({ one: count, two: count, three: count });
    const killed = await startSystem(three, { dataFolder, hostId: 'host-one' });
    const ids: string[] = [];
    for (let order = 0; order < 30; order++) {
      ids.push(await submitted(killed));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await killed.database.close();

    const system = await started(context, three, { dataFolder, hostId: 'host-two', clock: killed.clock });
    await system.clock.advance(70_000);
    for (const orderId of ids) await reaches(system, orderId, 'Processed');
    assert.equal(new Set(keys).size, 90, 'one effect for each step of each order');
  });
});
