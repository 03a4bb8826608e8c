import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import type { Clock } from '#ports/clock';
import type { Outgoing } from '#ports/queues';
import type { OrderRecord, ProcessState, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { decodeInstance } from '#roles/scheduler/instance';
import { createScheduler } from '#roles/scheduler/scheduler';
import { orderIdOf } from '#roles/submission/submission';
import { type Desk, type DeskOptions, journalOf, lineOf, noting, ok, openDesk, stepsNamed, submitted, tea, updating } from './support.ts';

const pending = { variables: { CLAIM_ON_SUBMIT: 'off' } };
const line = lineOf(stepsNamed('pick', 'pack'));

async function wake(desk: Desk, orderId: string): Promise<void> {
  await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString() });
  await desk.deliver('wake-ups');
}

describe('an order is claimed', () => {
  const states: readonly ProcessState[] = ['Pending', 'Processing', 'Processed', 'Error'];
  for (const processState of states) {
    for (const lockedBy of [null, 'host-two']) {
      const claims = processState === 'Pending' && lockedBy === null;
      test(`F-11: an order that is ${processState} and ${lockedBy === null ? 'unclaimed' : 'claimed'} is ${claims ? '' : 'not '}claimed when a scheduler looks at it`, async (context) => {
        const desk = openDesk(context, line, pending);
        const orderId = await submitted(desk);
        await desk.take('wake-ups');
        const fresh = await desk.state(orderId);
        const record = { ...fresh, rev: 2, epoch: 1, processState, lockedBy };
        assert.equal((await desk.store.patch(record, fresh)).outcome, 'written');

        await wake(desk, orderId);
        const after = await desk.state(orderId);
        assert.deepEqual(
          [after.processState, after.lockedBy, after.epoch],
          claims ? ['Processing', 'host-one', 2] : [processState, lockedBy, 1],
        );
        assert.equal((await desk.requests()).length, claims ? 1 : 0);
      });
    }
  }

  test('F-11: a suspended order is not claimed', async (context) => {
    const desk = openDesk(context, line, pending);
    const orderId = await submitted(desk);
    const fresh = await desk.state(orderId);
    await desk.store.patch({ ...fresh, rev: 2, suspended: true }, fresh);
    await wake(desk, orderId);
    assert.equal((await desk.state(orderId)).processState, 'Pending');
  });

  test('F-12: one write sets the claiming host, the deadline and Processing, and the next epoch', async (context) => {
    const writes: StateRecord[] = [];
    const around = updating((store, state, ...rest) => noting(writes, state, store.update(state, ...rest)));
    const desk = openDesk(context, line, { ...pending, around });
    const orderId = await submitted(desk);
    await desk.clock.advance(1_000);
    await desk.deliver('wake-ups');
    assert.deepEqual(
      writes.map(({ rev, epoch, lockedBy, completeBy, processState }) => ({ rev, epoch, lockedBy, completeBy, processState })),
      [{ rev: 2, epoch: 1, lockedBy: 'host-one', completeBy: desk.clock.now() + 10_000, processState: 'Processing' }],
    );
    assert.deepEqual(
      (await journalOf(desk, orderId)).map(({ type }) => type),
      ['OrderSubmitted', 'OrderClaimed', 'ActivityStarted', 'StepRequested'],
    );
  });

  test('F-12: when two schedulers claim an order at the same time, one wins and the other does nothing', async (context) => {
    const desk = openDesk(context, line, pending);
    const orderId = await submitted(desk);
    const message = desk.messages('wake-ups')[0];
    await desk.send('wake-ups', message);
    // A batch groups messages of one order, so the test hands one to each of two schedulers.
    const other = createScheduler({ ...desk.system, definitions: desk.system.definitions, hostId: 'host-two' });
    const incoming = [{ id: 'wake-up', type: 'wake-up' as const }];
    await Promise.all([
      desk.system.scheduler.accept(orderId, incoming, []),
      other.accept(orderId, incoming, []),
      desk.clock.advance(1_000),
    ]);
    assert.equal((await journalOf(desk, orderId)).filter(({ type }) => type === 'OrderClaimed').length, 1);
    assert.equal((await desk.requests()).length, 1);
    assert.equal(desk.telemetry.counts()['raceLost'], 1);
  });

  test('F-14: schedulers get only the id of an order: a claim does not write the order row, and no message to a scheduler contains the body', async (context) => {
    const sent: Outgoing[][] = [];
    const around: DeskOptions['around'] = ({ queues }) => ({
      queues: { ...queues, send: (messages) => noting(sent, [...messages], queues.send(messages)) },
    });
    const desk = openDesk(context, line, { ...pending, writesAndSendsAtomically: false, around });
    desk.database
      .prepare("CREATE TRIGGER untouched BEFORE UPDATE ON orders BEGIN SELECT RAISE(ABORT, 'an order never changes'); END")
      .run();
    const orderId = await submitted(desk, { item: 'canary' });
    await desk.deliver('wake-ups');
    const request = await desk.request();
    assert.deepEqual((request.input as { item: string }).item, 'canary', 'the agent gets what it needs');
    await desk.clock.advance(30_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.equal((await desk.state(orderId)).failureCount, 1);

    const toSchedulers = sent.flat().filter(({ queue }) => queue === 'wake-ups');
    assert.ok(toSchedulers.length > 0);
    for (const { body } of toSchedulers)
      assert.deepEqual(Object.keys(JSON.parse(body) as object).sort(), ['orderId', 'sentAt', 'type', 'v']);
    assert.doesNotMatch(JSON.stringify(await desk.store.head(orderId)), /canary/);
  });
});

describe('many schedulers on one store', () => {
  const orders = 5_000;
  const hosts = 20;
  /** Copies of each wake-up, each delivered to another scheduler. */
  const copies = 4;

  test(`F-13, F-12: when ${hosts} schedulers claim ${orders} orders, each order is claimed once, and every lost race is counted`, {
    timeout: 120_000,
  }, async (context) => {
    const app = lineOf(stepsNamed('pick'));
    const instant: Clock = { now: () => Date.UTC(2026, 0, 1), sleep: () => Promise.resolve() };
    const { store, queues, publisher, database } = openEmbedded(':memory:', { clock: instant });
    context.after(() => database.close());
    const definitions = loadDefinitions(app);
    const claims = new Map<string, string[]>();
    let refused = 0;
    const watched: Store = {
      ...store,
      async update(state, when, along) {
        const write = await store.update(state, when, along);
        if (write.outcome === 'refused') refused += 1;
        else claims.set(state.orderId, [...(claims.get(state.orderId) ?? []), `${state.epoch} ${state.lockedBy}`]);
        return write;
      },
    };
    const schedulers = Array.from({ length: hosts }, (_, index) => {
      const telemetry = createTelemetry({ level: 'off' });
      return {
        telemetry,
        scheduler: createScheduler({ store: watched, queues, publisher, clock: instant, telemetry, definitions, hostId: `host-${index}` }),
      };
    });
    const ids = Array.from({ length: orders }, (_, index) => orderIdOf('acme', String(index)));
    await Promise.all(
      ids.map((orderId, index) =>
        (schedulers[index % hosts] as (typeof schedulers)[number]).scheduler.create(orderRecord(orderId), {
          claim: false,
          stepMs: 10_000,
          maxFailures: 3,
        }),
      ),
    );

    const wakeUps = ids.flatMap((orderId, index) =>
      Array.from({ length: copies }, (_, copy) => ({ orderId, by: schedulers[(index + copy * 5) % hosts] })),
    );
    await Promise.all(wakeUps.map(({ orderId, by }) => by?.scheduler.accept(orderId, [{ id: 'wake-up', type: 'wake-up' }], [])));

    assert.equal(claims.size, orders);
    assert.deepEqual(
      [...claims].filter(([, { length }]) => length !== 1),
      [],
      'no order has two claims, so no two owners',
    );
    assert.equal(new Set([...claims.values()].flat()).size, hosts, 'every scheduler has its share');
    assert.equal(
      schedulers.reduce((sum, { telemetry }) => sum + (telemetry.counts()['raceLost'] ?? 0), 0),
      refused,
    );
    assert.ok(refused > orders, `${refused} races were lost`);
    assert.equal((await queues.depth('worker-requests')).visible, orders);
    for (const orderId of ids.slice(0, 50)) {
      const state = (await store.load(orderId))?.state as StateRecord;
      assert.deepEqual(decodeInstance(state).tail.filter(({ type }) => type === 'OrderClaimed').length, 1);
    }
  });

  const orderRecord = (orderId: string): OrderRecord => ({
    orderId,
    client: 'acme',
    workflow: { name: 'line', version: 1 },
    body: tea,
    hash: 'h',
    submittedAt: Date.UTC(2026, 0, 1),
    answer: '{}',
  });

  test('F-13: any host may continue a claimed order, under the same claim', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const other = createScheduler({ ...desk.system, definitions: desk.system.definitions, hostId: 'host-two' });
    const { requestId } = await desk.request();
    await other.accept(
      orderId,
      [
        {
          id: requestId,
          type: 'reply',
          requestId,
          agent: 'worker',
          sentAt: desk.clock.now(),
          reply: ok() as { status: 'succeeded'; output: object } as never,
        },
      ],
      [],
    );
    const { lockedBy, epoch } = await desk.state(orderId);
    assert.deepEqual([lockedBy, epoch], ['host-one', 1]);
    assert.equal((await desk.request()).path, 'order/pack');
  });
});
