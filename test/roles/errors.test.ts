import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  askOperator,
  cel,
  defineAgent,
  defineApp,
  defineWorkflow,
  type JsonObject,
  operation,
  PermanentFailure,
  parallel,
  type RuntimeService,
  type ServiceRuntime,
} from 'redress';
import * as z from 'zod';
import type { Request } from '#ports/messages';
import { announcedAs } from '#ports/records';
import type { Emit, SystemEvents } from '#runtime/system';
import { registerClient } from '#testing/world/register-client';
import {
  type Desk,
  failed,
  journalOf,
  lineOf,
  nothing,
  noting,
  openDesk,
  reaches,
  replyTo,
  sendingFails,
  started,
  stepsNamed,
  submitted,
  tea,
  timePasses,
  typesOf,
  updating,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];
const resubmit = (desk: Desk, orderId: string) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: `i-${desk.clock.now()}` }),
  );

/** Lets the supervisor find the order overdue, and delivers the wake-up to the scheduler. */
async function late(desk: Desk): Promise<void> {
  await desk.clock.advance(10_000);
  await desk.supervisor.pass();
  await desk.deliver('wake-ups');
}

describe('a person is notified that an order is in Error', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-59, F-74, F-136: once after a permanent failure, with the order, the cause, the step and the count (${how})`, async (context) => {
      const desk = openDesk(context, line, { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await late(desk);
      const [, again] = await desk.requests();
      await desk.answer(again as never, failed('Broken', 'the shelf is empty'));

      const announced = announcedAs(await desk.state(orderId));
      const detail = {
        orderId,
        at: new Date(desk.clock.now()).toISOString(),
        class: 'unexpected',
        type: 'Broken',
        source: 'order/pick',
        before: 'Processing',
        after: 'Error',
        failureCount: 1,
        message: 'the shelf is empty',
      };
      assert.deepEqual(
        desk.announced().map(({ detailType, detail }) => [detailType, detail]),
        [
          ['Order In Error', { id: `${announced}#1`, ...detail }],
          ['Workflow Terminated', { id: `${announced}#1/terminated`, ...detail }],
        ],
      );
    });

    test(`F-136: with the data of the fault, up to a size limit (${how})`, async (context) => {
      for (const [bytes, shown] of [
        [4096, true],
        [4097, false],
      ] as const) {
        const desk = openDesk(context, line, { writesAndSendsAtomically });
        await submitted(desk);
        const data = { shelf: 'x'.repeat(bytes - '{"shelf":""}'.length) };
        await desk.answer(await desk.request(), failed('Broken', 'the shelf is empty', { data }));
        const alerts = desk.announced().map(({ detailType, detail }) => [detailType, detail['data']]);
        assert.deepEqual(
          alerts,
          ['Order In Error', 'Workflow Terminated'].map((type) => [type, shown ? data : undefined]),
        );
      }
    });

    test(`F-59, F-51: once when an order exceeds its failure limit, and no handler runs (${how})`, async (context) => {
      const desk = openDesk(context, line, { writesAndSendsAtomically, variables: { MAX_FAILURES: '2' } });
      const orderId = await submitted(desk);
      await late(desk);
      await late(desk);
      assert.deepEqual(desk.announced(), [], 'a count equal to the threshold is requested again');
      await late(desk);
      assert.equal((await desk.state(orderId)).processState, 'Error');
      for (let pass = 0; pass < 3; pass++) await late(desk);

      const announcements = desk.announced().map(({ detailType, detail: { at: _, message: __, ...detail } }) => [detailType, detail]);
      const announced = announcedAs(await desk.state(orderId));
      const detail = {
        orderId,
        class: 'basic-failure',
        type: 'DeadlineExceeded',
        source: 'order/pick',
        before: 'Processing',
        after: 'Error',
        failureCount: 3,
      };
      assert.deepEqual(announcements, [
        ['Order In Error', { id: `${announced}#1`, ...detail }],
        ['Workflow Terminated', { id: `${announced}#1/terminated`, ...detail }],
      ]);
      assert.deepEqual((await desk.state(orderId)).outbox, []);
    });

    test(`F-59: each time, under a new id (${how})`, async (context) => {
      const desk = openDesk(context, line, { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      for (let time = 0; time < 3; time++) {
        await desk.answer(await desk.request(), failed('Broken'));
        await resubmit(desk, orderId);
      }
      const announced = announcedAs(await desk.state(orderId));
      assert.deepEqual(
        desk
          .announced()
          .filter(({ detailType }) => detailType === 'Order In Error')
          .map(({ id }) => id),
        [`${announced}#1`, `${announced}#2`, `${announced}#3`],
      );
    });

    test(`F-59: a completed order is announced only if that is configured (${how})`, async (context) => {
      for (const wanted of ['off', 'on']) {
        const desk = openDesk(context, lineOf(stepsNamed('pick')), { writesAndSendsAtomically, variables: { ANNOUNCE_PROCESSED: wanted } });
        const orderId = await submitted(desk);
        await desk.answer(await desk.request());
        assert.deepEqual(
          desk.announced().map(({ detailType, id }) => [detailType, id]),
          wanted === 'on' ? [['Order Processed', `${announcedAs(await desk.state(orderId))}/processed`]] : [],
        );
      }
    });
  }

  test('F-59: in the same write as the Error: a state without its alert is never stored', async (context) => {
    const seen: unknown[] = [];
    const around = updating((store, state, ...rest) =>
      noting(seen, [state.processState, state.outbox.map(({ id }) => id.slice(announcedAs(state).length))], store.update(state, ...rest)),
    );
    const desk = openDesk(context, line, { writesAndSendsAtomically: false, around });
    await submitted(desk);
    await desk.answer(await desk.request(), failed('Broken'));
    assert.deepEqual(seen, [['Error', ['#1', '#1/terminated', '/cause/1']]]);
  });
});

describe('the host emits an event for a fault without a handler', () => {
  const bad = lineOf({
    pick: ({ item }) => {
      if (item === 'bad') throw new PermanentFailure('Broken', 'no');
      return {};
    },
    pack: nothing,
  });

  test('F-62: the event carries the fault, the host does not crash, and other orders continue', async (context) => {
    const system = await started(context, bad);
    const heard: SystemEvents['workflowTerminated'][] = [];
    system.host.on('workflowTerminated', (event) => void heard.push(event));
    const [good, broken, other] = [await submitted(system), await submitted(system, { item: 'bad' }), await submitted(system)];
    await reaches(system, broken, 'Error');
    for (const orderId of [good, other]) await reaches(system, orderId, 'Processed');
    assert.deepEqual(
      heard.map(({ orderId, record }) => [orderId, record.processState, record.fault?.type]),
      [[broken, 'Error', 'Broken']],
    );
  });

  for (const writesAndSendsAtomically of [true, false]) {
    test(`F-62: a listener that throws changes nothing: an order that goes into Error is announced once, and no message is redelivered (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
      const system = await started(context, bad, { writesAndSendsAtomically });
      let called = 0;
      system.host.on('workflowTerminated', () => {
        called += 1;
        throw new Error('my own affair');
      });
      const broken = await submitted(system, { item: 'bad' });
      await reaches(system, broken, 'Error');
      await reaches(system, await submitted(system), 'Processed');
      await system.clock.advance(60_000);
      assert.equal(called, 1);
      assert.deepEqual(typesOf(system.publisher.published(0, 100)), [
        'Order In Error',
        'Workflow Terminated',
        'Exception Raised',
        'Task Opened',
      ]);
      assert.equal(system.telemetry.counts()['recordFailed'] ?? 0, 0);
    });
  }

  test('F-62: even if a hook of the host throws, the scheduler sends after its write and quarantines a damaged order', async (context) => {
    let called = 0;
    const emit: Emit = () => {
      called += 1;
      throw new Error('my own affair');
    };
    const desk = openDesk(context, bad, { writesAndSendsAtomically: false, emit });
    await registerClient(desk.store, { id: 'acme', responseChannels: ['redress-response-acme'], senders: [] });
    const broken = await submitted(desk, tea, { client: 'acme', responseChannel: 'redress-response-acme' });
    const request = await desk.request();
    await desk.send('worker-replies', replyTo(request, failed('Broken'), desk.clock.now()));
    assert.equal(await desk.deliver('worker-replies'), 0, 'no message is redelivered');
    assert.deepEqual(typesOf(desk.announced()), ['Order In Error', 'Workflow Terminated']);
    assert.deepEqual(
      desk.messages('redress-response-acme').map(({ status }) => status),
      ['received', 'delayed'],
    );

    const unreadable = await submitted(desk);
    desk.database.prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)').run('{', unreadable);
    await desk.answer(await desk.request());
    assert.deepEqual([(await desk.state(broken)).processState, (await desk.state(unreadable)).processState], ['Error', 'Error']);
    assert.equal(called, 2);
    assert.equal(desk.telemetry.counts()['recordFailed'] ?? 0, 0);
  });

  test('F-62, F-173: a listener of the app that throws or rejects has no effect', async (context) => {
    let called = 0;
    const throwing = () => {
      called += 1;
      if (called > 1) return Promise.reject(new Error('my own affair'));
      throw new Error('my own affair');
    };
    const system = await started(context, { ...bad, on: { workflowTerminated: throwing } });
    for (let order = 0; order < 2; order++) await reaches(system, await submitted(system, { item: 'bad' }), 'Error');
    await reaches(system, await submitted(system), 'Processed');
    await system.stop();
    assert.equal(called, 2);
    assert.equal(system.telemetry.counts()['recordFailed'] ?? 0, 0);
  });

  test('F-62: when an order is late too often, when it fails again, and when it cannot begin', async (context) => {
    const heard: string[] = [];
    const emit: Parameters<typeof openDesk>[2] = {
      variables: { MAX_FAILURES: '0' },
      emit: (event, { orderId }) => void heard.push(`${event} ${orderId}`),
    };
    const desk = openDesk(context, line, emit);
    const overdue = await submitted(desk);
    await late(desk);
    await resubmit(desk, overdue);
    await late(desk);

    const worker = defineAgent('worker', {
      pick: operation({ input: z.object({ item: z.string() }), output: z.object({}), run: () => ({}) }),
    });
    const impossible = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ items: z.array(z.string()) }) }, ({ order }) =>
          worker.pick({ item: cel<string>`${order.items}[3]` }),
        ),
      ],
      agents: [worker],
    });
    const other = openDesk(context, impossible, emit);
    const stillborn = await submitted(other, { items: [] });
    assert.equal((await other.state(stillborn)).fault?.type, 'ExpressionFailed');
    assert.deepEqual(
      heard,
      [overdue, overdue, stillborn].map((orderId) => `workflowTerminated ${orderId}`),
    );
    assert.deepEqual(typesOf(other.announced()), ['Order In Error', 'Workflow Terminated']);
  });
});

describe('the host emits workflowTerminated once', () => {
  test('F-62: for an order that stays blocked, although further replies are written', async (context) => {
    const heard: string[] = [];
    const work = operation({ input: z.object({}), output: z.object({}), run: () => ({}) });
    const worker = defineAgent('worker', { left: work, right: work });
    const fork = defineApp({
      workflows: [
        defineWorkflow('fork', { version: 1, order: z.object({ item: z.string() }) }, () => parallel(worker.left({}), worker.right({}))),
      ],
      agents: [worker],
    });
    const desk = openDesk(context, fork, { emit: (event) => void heard.push(event) });
    const orderId = await submitted(desk);
    const [left, right] = (await desk.requests()) as [Request, Request];
    await desk.answer(left, failed('Broken'));
    const { rev } = await desk.state(orderId);
    await desk.answer(right);
    assert.equal((await desk.state(orderId)).rev, rev + 1, 'the other reply is recorded');
    assert.deepEqual(heard, ['workflowTerminated']);
    assert.deepEqual(typesOf(desk.announced()), ['Order In Error', 'Workflow Terminated']);
  });
});

describe('the host emits no workflowTerminated', () => {
  test('F-62: for a question to a person: nothing failed, although the order waits in Error', async (context) => {
    const heard: string[] = [];
    const asking = defineWorkflow('asks', { version: 1, order: z.object({ item: z.string() }) }, () =>
      askOperator('right', { question: 'Is it right?', answer: z.object({}) }),
    );
    const desk = openDesk(context, defineApp({ workflows: [asking], agents: [] }), { emit: (event) => void heard.push(event) });
    const orderId = await submitted(desk);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, heard], ['Error', 'OperatorAsked', []]);
    assert.deepEqual(typesOf(desk.announced()), ['Order In Error']);
  });
});

describe('a custom runtime service', () => {
  test('F-65: gets access to the runtime, and stops with the host', async (context) => {
    const course: string[] = [];
    let runtime: ServiceRuntime | undefined;
    const service: RuntimeService = {
      name: 'importer',
      async start(given) {
        runtime = given;
        const submission = await given.submit({ client: 'importer', idempotencyKey: 'k', order: tea });
        course.push(`started by ${given.hostId} at ${given.clock.now()}: ${submission.outcome}`);
      },
      stop: () => void course.push('stopped'),
    };
    const system = await started(context, line, { services: [service], hostId: 'host-one' });
    assert.ok(runtime);
    assert.deepEqual(course, [`started by host-one at ${system.clock.now()}: accepted`]);
    await system.stop();
    assert.deepEqual(course.slice(1), ['stopped']);
  });

  test('F-65: can report a failure: the host emits its event, announces it and continues', async (context) => {
    let runtime: ServiceRuntime | undefined;
    const system = await started(context, lineOf({ pick: nothing }), {
      services: [{ name: 'archive', start: (given) => void (runtime = given) }],
    });
    const heard: SystemEvents['servicesExceptionNotHandled'][] = [];
    system.host.on('servicesExceptionNotHandled', (event) => void heard.push(event));
    const orderId = await submitted(system);
    const error = new Error('the archive is full');
    runtime?.raiseServicesExceptionNotHandled(error, orderId);
    runtime?.raiseServicesExceptionNotHandled('a text');

    await reaches(system, orderId, 'Processed');
    assert.deepEqual(heard, [
      { service: 'archive', orderId, error },
      { service: 'archive', error: 'a text' },
    ]);
    const announced = system.publisher
      .published(0, 100)
      .map(
        ({ detailType, detail }) => [detailType, detail['orderId'] ?? null, detail['source'], detail['class'], detail['message']] as const,
      );
    assert.deepEqual(announced, [
      ['Service Exception', orderId, 'archive', 'basic-failure', 'the archive is full'],
      ['Service Exception', null, 'archive', 'basic-failure', 'a text'],
    ]);
    assert.ok(system.publisher.published(0, 100).every(({ id, detail }) => (detail as JsonObject)['id'] === id));
  });

  test('F-65: is not affected by a listener that throws', async (context) => {
    let runtime: ServiceRuntime | undefined;
    const system = await started(context, lineOf({ pick: nothing }), {
      services: [{ name: 'archive', start: (given) => void (runtime = given) }],
    });
    system.host.on('servicesExceptionNotHandled', () => {
      throw new Error('my own affair');
    });
    runtime?.raiseServicesExceptionNotHandled(new Error('full'));
    await system.clock.advance(100);
    assert.deepEqual(typesOf(system.publisher.published(0, 100)), ['Service Exception']);
  });
});

describe('the journal of an order in Error', () => {
  test('F-59: names the cause of the Error', async (context) => {
    const desk = openDesk(context, line, { variables: { MAX_FAILURES: '0' } });
    const orderId = await submitted(desk);
    await late(desk);
    assert.deepEqual(
      (await journalOf(desk, orderId)).slice(-4).map((entry) => ({ type: entry.type, path: 'path' in entry ? entry.path : null })),
      [
        { type: 'ThresholdExceeded', path: 'order/pick' },
        { type: 'OrderBlocked', path: 'order/pick' },
        { type: 'ExceptionDetected', path: null },
        { type: 'ExceptionDiagnosed', path: null },
      ],
    );
  });

  test('F-59: includes the notes of the supervisor as soon as a scheduler looks at the order', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const head = await desk.store.head(orderId);
    assert.ok(head);
    const note = { at: desk.clock.now(), type: 'DeadlineMoved' as const, path: 'order/pick', reason: 'another host holds the lease' };
    await desk.store.patch({ ...head, rev: head.rev + 1, notes: [note] }, head);
    await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString() });
    await desk.deliver('wake-ups');
    const { seq: _, ...written } = (await journalOf(desk, orderId)).at(-1) ?? { seq: 0 };
    assert.deepEqual([written, (await desk.state(orderId)).notes], [note, []]);
  });

  test('F-59: keeps its lines in sequence, also in a write that only sends unsent entries of the outbox', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack', 'ship')), {
      writesAndSendsAtomically: false,
      around: sendingFails('mine', () => true),
    });
    await registerClient(desk.store, { id: 'acme', responseChannels: ['mine'], senders: [] });
    const orderId = await submitted(desk, tea, { client: 'acme', responseChannel: 'mine' });
    const first = await desk.request();
    await desk.answer(first);
    await desk.answer(await desk.request());
    await desk.clock.advance(1_000_000);
    const head = await desk.store.head(orderId);
    assert.ok(head);
    const note = { at: desk.clock.now(), type: 'DeadlineMoved' as const, path: 'order/ship', reason: 'another host holds the lease' };
    await desk.store.patch({ ...head, rev: head.rev + 1, notes: [note] }, head);
    await desk.answer(first);
    const written = (await journalOf(desk, orderId)).slice(-2).map(({ type }) => type);
    assert.deepEqual([written, (await desk.state(orderId)).notes], [['DeadlineMoved', 'ResponseUndeliverable'], []]);
  });
});
