import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Solution } from '#core/solutions/solution';
import type { TaskRecord } from '#ports/tasks';
import { exceptionGroups } from '#roles/exceptions/groups';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { storeCause } from '#roles/exceptions/store';
import { figuresOf } from '#roles/solutions/figures';
import { createTasks } from '#roles/tasks/tasks';
import { usedSolution } from '#testing/world/clients';
import { type Desk, failed, lineOf, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

const line = lineOf(stepsNamed('pick'));

async function blocked(context: TestContext, writesAndSendsAtomically = true) {
  const desk = openDesk(context, line, { writesAndSendsAtomically });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
  return { desk, orderId, id: taskIdOf(orderId, 1), tasks: createTasks(desk) };
}

const claimBy = (by: string) => ({ act: { action: 'claim' }, by, isAdmin: false }) as const;

/** An order that the supervisor has blocked: its task is in the outbox, and not stored yet. */
async function blockedBySupervisor(context: TestContext) {
  const desk = openDesk(context, lineOf(stepsNamed('pick'), { maxFailures: 0 }));
  const orderId = await submitted(desk, undefined, { reference: 'lot-4711' });
  await desk.clock.advance(10_000);
  await desk.supervisor.pass();
  return { desk, orderId, id: taskIdOf(orderId, 1), tasks: createTasks(desk) };
}

const groupsIn = async ({ store, clock }: Desk) => (await exceptionGroups(store, clock.now())).map(({ count, open }) => [count, open]);

describe('a task', () => {
  test('goes to one of two persons who act at the same time, and the answer to the other names the first: 100 rounds for each act', async (context) => {
    const { tasks, id } = await blocked(context);
    const names = ['ann', 'bob'];
    for (let round = 0; round < 100; round++) {
      const claims = await Promise.all(names.map((by) => tasks.act(id, claimBy(by))));
      const [winner] = claims.flatMap((acted, index) => (acted.outcome === 'done' ? [names[index] as string] : []));
      assert.deepEqual(claims.map(({ outcome }) => outcome).toSorted(), ['conflict', 'done']);
      const refused = claims.find(({ outcome }) => outcome === 'conflict') as { reason: string };
      assert.match(refused.reason, new RegExp(`^${winner} has claimed the task\\.`));
      assert.equal((await tasks.task(id))?.assignee, winner);

      const moves = await Promise.all(
        names.map((by) =>
          tasks.act(id, { act: round % 2 ? { action: 'release' } : { action: 'assign', group: `g${round}` }, by, isAdmin: false }),
        ),
      );
      const moved = moves.filter(({ outcome }) => outcome === 'done');
      assert.ok(moved.length >= 1);
      assert.equal((await tasks.task(id))?.state, 'open');
      const remarks = await Promise.all(
        names.map((by) => tasks.act(id, { act: { action: 'comment', text: `${round}` }, by, isAdmin: false })),
      );
      const isFull = round >= 50;
      assert.deepEqual(
        remarks.map(({ outcome }) => outcome),
        isFull ? ['conflict', 'conflict'] : ['done', 'done'],
        'no comment is lost, and their number has a limit',
      );
    }
    assert.equal((await tasks.task(id))?.comments?.length, 100);
  });

  test('can be claimed while its opening is still in the outbox of its order', async (context) => {
    const { desk, orderId, id, tasks } = await blockedBySupervisor(context);
    const { rev } = await desk.state(orderId);
    assert.partialDeepStrictEqual(await tasks.act(id, claimBy('ann')), {
      outcome: 'done',
      task: { assignee: 'ann', rev: 2, reference: 'lot-4711' },
    });
    assert.equal((await desk.state(orderId)).rev, rev, 'the order did not change');
    await desk.deliver('wake-ups');
    assert.partialDeepStrictEqual(await tasks.task(id), { state: 'claimed', assignee: 'ann' });
    assert.deepEqual(await groupsIn(desk), [[1, 1]], 'its exception counts once');
  });

  test('that is commented while its closing is in the outbox of its order still counts for the solution that resolved it', async (context) => {
    let isAway = false;
    const away = async (): Promise<never> => Promise.reject(new Error('The store takes no records.'));
    const desk = openDesk(context, line, {
      writesAndSendsAtomically: false,
      around: ({ store }) => ({
        store: { ...store, putCounted: (...write) => (isAway ? away() : store.putCounted(...write)) },
      }),
    });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
    const tasks = createTasks(desk);
    const id = taskIdOf(orderId, 1);
    isAway = true;
    const decision = { kind: 'resubmit', by: 'olga', reason: 'mended' } as const;
    await timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, decision, { id: 'i', solution: usedSolution }).catch(() => undefined),
    );
    const { rev } = await desk.state(orderId);
    const act = { action: 'comment', text: 'It helped.' } as const;
    assert.partialDeepStrictEqual(await tasks.act(id, { act, by: 'ann', isAdmin: false }), {
      outcome: 'done',
      task: { state: 'resolved' },
    });
    assert.equal((await desk.state(orderId)).rev, rev, 'the order did not change');
    isAway = false;
    await desk.deliver('wake-ups');
    const figures = (await figuresOf(desk.store))({ id: usedSolution.id, instructionSince: usedSolution.version } as Solution);
    assert.equal(figures.used, 1);
    assert.equal((await tasks.task(id))?.comments?.length, 1);
  });

  test('is resolved for good if its closing comes before its opening; its exception counts once', async (context) => {
    const { desk, orderId, id, tasks } = await blocked(context, false);
    const { rev: _, ...task } = (await tasks.task(id)) as TaskRecord;
    const exception = await exceptionOf(exceptionIdOf(orderId, 1), desk.store);
    assert.ok(exception);
    const later = openDesk(context, line);
    const handling = { by: 'person', id: 'olga', control: 'ready', at: desk.clock.now() } as const;
    const closing = {
      id: 'c',
      kind: 'closed',
      orderId,
      submittedAt: task.submittedAt,
      seq: 1,
      hasException: true,
      handling,
      reason: 'mended',
    } as const;
    const opening = { id: 'o', kind: 'opened', exception, task } as const;
    await storeCause(closing, later.store);
    assert.equal(await taskOf(id, later.store), undefined, 'an early closing is no task');
    for (const entry of [opening, closing, opening]) await storeCause(entry, later.store);
    assert.partialDeepStrictEqual(await taskOf(id, later.store), { state: 'resolved', resolution: { by: 'olga', reason: 'mended' } });
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), later.store), { handling: { by: 'person' } });
    assert.deepEqual(await groupsIn(later), [[1, 0]]);
    assert.deepEqual((await createTasks(later).list({}, undefined, 10)).items, []);
  });

  test('is resolved if its order goes on while somebody claims it, whatever comes first', async (context) => {
    for (const writesAndSendsAtomically of [true, false]) {
      const { desk, orderId, id, tasks } = await blocked(context, writesAndSendsAtomically);
      const [claimed] = await Promise.all([
        tasks.act(id, claimBy('ann')),
        timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: 'i' })),
      ]);
      assert.ok(['done', 'conflict'].includes(claimed.outcome));
      assert.partialDeepStrictEqual(await tasks.task(id), { state: 'resolved', resolution: { by: 'olga' } });
    }
  });
});
