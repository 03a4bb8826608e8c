import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { askOperator, defineApp, defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import type { ExceptionRecord } from '#core/exceptions/exception';
import type { TaskRecord } from '#ports/tasks';
import { exceptionGroups } from '#roles/exceptions/groups';
import { exceptionIdOf, exceptionPlaceOf, taskIdOf } from '#roles/exceptions/ids';
import { listExceptions } from '#roles/exceptions/list';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { causeWrites, fingerprintsMax, isCauseEntry, otherFingerprint, storeCause } from '#roles/exceptions/store';
import { type Desk, failed, lineOf, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

const exceptionAt = async (desk: Desk, orderId: string, seq: number): Promise<ExceptionRecord | undefined> =>
  exceptionOf(exceptionIdOf(orderId, seq), desk.store);
const taskAt = async (desk: Desk, orderId: string, seq: number): Promise<TaskRecord | undefined> =>
  taskOf(taskIdOf(orderId, seq), desk.store);
const all = async ({ store, clock }: Desk) => (await listExceptions(store, {}, { after: undefined, limit: 100, now: clock.now() })).items;
const groups = ({ store, clock }: Desk) => exceptionGroups(store, clock.now());

let calls = 0;
const instruct = (desk: Desk, orderId: string, kind: 'resubmit' | 'terminate' | 'compensate') =>
  timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'mended' }, { id: `i-${++calls}` }));

async function blocked(context: TestContext, writesAndSendsAtomically = true, more: Parameters<typeof failed>[2] = {}) {
  const desk = openDesk(context, line, { writesAndSendsAtomically });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty', more));
  return { desk, orderId };
}

describe('an order that a fault blocks', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-123: has the reference of its client in its exception and its task, and not in its state (${how})`, async (context) => {
      const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack'), { maxFailures: 0 }), { writesAndSendsAtomically });
      const faulted = await submitted(desk, undefined, { reference: 'lot-1' });
      await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
      const late = await submitted(desk, undefined, { reference: 'lot-2' });
      await desk.clock.advance(10_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      for (const [orderId, reference] of [
        [faulted, 'lot-1'],
        [late, 'lot-2'],
      ] as const) {
        assert.equal((await exceptionAt(desk, orderId, 1))?.reference, reference);
        assert.equal((await taskAt(desk, orderId, 1))?.reference, reference);
        assert.ok(!JSON.stringify(await desk.state(orderId)).includes(reference));
      }
    });

    test(`F-123, F-124: has one exception with class, tags and states, and one task (${how})`, async (context) => {
      const { desk, orderId } = await blocked(context, writesAndSendsAtomically, { data: { shelf: 17 } });
      const taskId = taskIdOf(orderId, 1);
      assert.partialDeepStrictEqual(await exceptionAt(desk, orderId, 1), {
        id: exceptionIdOf(orderId, 1),
        workflow: { name: 'line', version: 1 },
        path: 'order/pick',
        step: 'order/pick',
        type: 'Broken',
        class: 'unexpected',
        tags: ['user', 'semantic'],
        message: 'shelf 17 is empty',
        data: { shelf: 17 },
        before: { processState: 'Processing', status: 'Executing' },
        after: { processState: 'Error', status: 'Faulting' },
        attempt: 1,
        at: desk.clock.now(),
        handling: null,
        taskId,
      });
      assert.partialDeepStrictEqual(await taskAt(desk, orderId, 1), {
        id: taskId,
        kind: 'fault',
        state: 'open',
        exceptionId: exceptionIdOf(orderId, 1),
      });
      assert.equal((await all(desk)).length, 1);
      assert.deepEqual((await desk.state(orderId)).outbox, []);
    });

    test(`has its exception handled by the person who resubmits it, and its task resolved for good (${how})`, async (context) => {
      const { desk, orderId } = await blocked(context, writesAndSendsAtomically);
      await instruct(desk, orderId, 'resubmit');
      assert.deepEqual((await exceptionAt(desk, orderId, 1))?.handling, {
        by: 'person',
        id: 'olga',
        control: 'ready',
        at: desk.clock.now(),
      });
      assert.partialDeepStrictEqual(await taskAt(desk, orderId, 1), { state: 'resolved', resolution: { by: 'olga', reason: 'mended' } });
      assert.deepEqual((await desk.state(orderId)).open ?? [], []);

      await desk.answer(await desk.request(), failed('Broken', 'shelf 18 is empty'));
      assert.deepEqual(
        (await all(desk)).map(({ id, handling }) => [id, handling?.by]),
        [
          [exceptionIdOf(orderId, 2), undefined],
          [exceptionIdOf(orderId, 1), 'person'],
        ],
        'the next failure has an exception of its own',
      );
    });

    test(`F-51: has one exception, although the supervisor and then the scheduler block it (${how})`, async (context) => {
      const desk = openDesk(context, lineOf(stepsNamed('pick'), { maxFailures: 0 }), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await desk.clock.advance(10_000);
      await desk.supervisor.pass();
      assert.deepEqual(
        (await desk.state(orderId)).outbox.filter(isCauseEntry).map(({ kind }) => kind),
        ['opened'],
        'the write of the supervisor opens the task',
      );
      assert.equal((await exceptionAt(desk, orderId, 1))?.type, 'DeadlineExceeded', 'it can be read before its record is stored');
      await desk.deliver('wake-ups');
      assert.deepEqual(
        (await all(desk)).map(({ type, class: faultClass, path }) => [type, faultClass, path]),
        [['DeadlineExceeded', 'basic-failure', 'order/pick']],
      );
    });
  }

  test('F-136: is announced with all parameters of the exception, and its task when it opens and when it is resolved', async (context) => {
    const { desk, orderId } = await blocked(context);
    await instruct(desk, orderId, 'terminate');
    assert.deepEqual(
      desk.announcedCauses().map(({ detailType, detail }) => [detailType, detail['exceptionId'] ?? detail['taskId']]),
      [
        ['Exception Raised', exceptionIdOf(orderId, 1)],
        ['Task Opened', exceptionIdOf(orderId, 1)],
        ['Task Resolved', taskIdOf(orderId, 1)],
      ],
    );
    assert.partialDeepStrictEqual(desk.announcedCauses()[0]?.detail, {
      source: 'order/pick',
      type: 'Broken',
      class: 'unexpected',
      before: 'Processing',
      after: 'Error',
      tags: ['user', 'semantic'],
      message: 'shelf 17 is empty',
    });
  });

  test('has a task without an exception if a person is asked a question', async (context) => {
    const asking = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
          sequence(askOperator('count', { question: 'How many?', answer: z.object({ count: z.number() }) })),
        ),
      ],
      agents: [],
    });
    const desk = openDesk(context, asking);
    const orderId = await submitted(desk);
    assert.partialDeepStrictEqual(await taskAt(desk, orderId, 1), { kind: 'question', question: { text: 'How many?' } });
    assert.deepEqual(await all(desk), []);
  });

  test('has a task of its own for an effect that may exist', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('InvalidReply', 'no JSON', { outcomeUnknown: true }));
    assert.equal((await taskAt(desk, orderId, 1))?.kind, 'outcome-unknown');
    assert.equal((await exceptionAt(desk, orderId, 1))?.class, 'application-failure');
  });
});

describe('the records of causes', () => {
  test('stay as they are when an outbox entry is sent again, also after the task was resolved', async (context) => {
    const { desk, orderId } = await blocked(context, false);
    const { outbox } = await desk.state(orderId);
    assert.deepEqual(outbox, []);
    const opened = { ...(await exceptionAt(desk, orderId, 1)), handling: null } as ExceptionRecord;
    const { rev: _, ...task } = (await taskAt(desk, orderId, 1)) as TaskRecord;
    await instruct(desk, orderId, 'resubmit');
    await storeCause({ id: 'again', kind: 'opened', exception: opened, task }, desk.store);
    assert.equal((await taskAt(desk, orderId, 1))?.state, 'resolved');
    assert.deepEqual(
      (await groups(desk)).map(({ count, open }) => [count, open]),
      [[1, 0]],
    );
    assert.deepEqual(await causeWrites([{ id: 'again', kind: 'opened', exception: opened, task }], desk.store), []);
  });

  test('S28: are closed for good when the entry that opens them comes after the one that closes them', async (context) => {
    const { desk, orderId } = await blocked(context, false);
    const opened = { ...(await exceptionAt(desk, orderId, 1)), handling: null } as ExceptionRecord;
    const { rev: _, ...task } = (await taskAt(desk, orderId, 1)) as TaskRecord;
    const { store } = openDesk(context, line);
    const handling = { by: 'person', id: 'olga', control: 'ready', at: opened.at + 1 } as const;
    const { submittedAt, seq } = opened;
    await storeCause({ id: 'closed', kind: 'closed', orderId, submittedAt, seq, hasException: true, handling, reason: 'mended' }, store);
    await storeCause({ id: 'late', kind: 'opened', exception: opened, task }, store);
    const [exception, resolved] = [await exceptionOf(exceptionIdOf(orderId, 1), store), await taskOf(taskIdOf(orderId, 1), store)];
    assert.deepEqual([exception?.handling, resolved?.state, resolved?.resolution?.by], [handling, 'resolved', 'olga']);
    const sums = (await exceptionGroups(store, desk.clock.now())).map(({ count, open }) => [count, open]);
    assert.deepEqual(sums, [[1, 0]]);
  });

  test('are grouped without regard to numbers in their messages, and the sums are exact', async (context) => {
    const desk = openDesk(context, line);
    for (let order = 0; order < 5; order++) {
      await submitted(desk);
      await desk.answer(await desk.request(), failed('Broken', `shelf ${order} is empty`));
    }
    const found = await groups(desk);
    assert.partialDeepStrictEqual(found, [
      { type: 'Broken', class: 'unexpected', workflow: 'line', step: 'order/pick', count: 5, open: 5 },
    ]);
    assert.equal(found[0]?.perHour.at(-1), 5);
  });

  test(`have at most ${fingerprintsMax} fingerprints for each workflow and day, and one more for all others`, async (context) => {
    const { desk, orderId } = await blocked(context);
    const first = (await exceptionAt(desk, orderId, 1)) as ExceptionRecord;
    const { rev: _, ...task } = (await taskAt(desk, orderId, 1)) as TaskRecord;
    const entry = (seq: number) => ({
      id: `e${seq}`,
      kind: 'opened' as const,
      exception: { ...first, seq, id: exceptionIdOf(orderId, seq), fingerprint: `f${seq}` },
      task: { ...task, seq, id: taskIdOf(orderId, seq) },
    });
    for (let seq = 2; seq <= fingerprintsMax + 3; seq++) await storeCause(entry(seq), desk.store);
    const found = await groups(desk);
    assert.equal(found.length, fingerprintsMax + 1);
    assert.equal(found.find(({ fingerprint }) => fingerprint === otherFingerprint)?.count, 3);
  });

  test('are listed by type, by class and by state, newest first and page by page', async (context) => {
    const desk = openDesk(context, line);
    const ids: string[] = [];
    for (let order = 0; order < 6; order++) {
      ids.unshift(await submitted(desk));
      await desk.answer(await desk.request(), failed(order % 2 ? 'Broken' : 'Dirty', 'no'));
      await desk.clock.advance(1);
    }
    await instruct(desk, ids[0] as string, 'terminate');
    const list = async (filter: Parameters<typeof listExceptions>[1], limit = 100) => {
      const found: string[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const page = await listExceptions(desk.store, filter, { after, limit, now: desk.clock.now() });
        found.push(...page.items.map(({ orderId }) => orderId));
        after = page.next;
        more = after !== undefined;
      }
      return found.map((id) => ids.indexOf(id));
    };
    assert.deepEqual(await list({}, 2), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(await list({ type: 'Broken' }, 1), [0, 2, 4]);
    assert.deepEqual(await list({ type: 'Broken', state: 'open' }), [2, 4]);
    assert.deepEqual(await list({ state: 'handled' }), [0]);
    assert.deepEqual(await list({ class: 'unexpected', type: 'Dirty', tag: 'user' }, 2), [1, 3, 5]);
    assert.deepEqual(await list({ workflow: 'line', step: 'order/pack' }), []);
  });

  test('have ids that lead to their order', () => {
    assert.deepEqual(exceptionPlaceOf(exceptionIdOf('ord_abc', 12)), { orderId: 'ord_abc', seq: 12 });
    for (const id of ['', 'exc_', 'exc_abc', 'exc_abc_0', 'exc_abc_1x', 'tsk_abc_1', `exc_${'a'.repeat(65)}_1`])
      assert.equal(exceptionPlaceOf(id), undefined, id);
  });
});
