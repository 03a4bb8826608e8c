import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { StateRecord } from '#ports/records';
import { type Opened, opened, reported } from '#roles/exceptions/causes';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import type { Given } from '#roles/operator/instruction';
import { countersAfterRestore, withCausesSince } from '#roles/repair/restore';
import { type Desk, failed, openDesk, submitted, timePasses, typesOf } from './support.ts';

const Any = z.object({});
const worker = defineAgent('worker', {
  charge: operation({ input: Any, output: Any, run: () => ({}) }),
  refund: operation({ input: Any, output: Any, run: () => ({}) }),
});
const Order = z.object({ item: z.string() });
const line = defineWorkflow('line', { version: 1, order: Order }, () => sequence(worker.charge({}).undo(() => worker.refund({}))));
const app = defineApp({ workflows: [line], agents: [worker] });

const ordered = async (context: TestContext) => {
  const desk = openDesk(context, app);
  return { desk, orderId: await submitted(desk) };
};
let calls = 0;
const give = (desk: Desk, orderId: string, given: Partial<Given> & { readonly kind: string }) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'a test', ...given } as Given, { id: `call-${++calls}` }),
  );
const report = { kind: 'report', type: 'Broken', message: 'It broke' } as const;

const finishedOrder = async (context: TestContext) => {
  const { desk, orderId } = await ordered(context);
  await desk.answer(await desk.request());
  return { desk, finished: await desk.state(orderId) };
};
const condition = { processState: 'Processed', status: null } as const;
const cause = {
  fault: { type: 'Broken', class: 'unexpected', message: 'It broke', permanent: true },
  before: condition,
  after: condition,
  attempt: 1,
} as const;
/** An order in use whose cause is not in its records yet. */
const writtenSince = (backup: StateRecord, since: Opened | undefined): StateRecord => ({
  ...backup,
  ...since?.change,
  outbox: since ? [since.entry] : [],
});

/** Writes an order as it was, with everything that a restore continues, and lets it be found. */
async function restore(desk: Desk, backup: StateRecord, lastInUse?: StateRecord): Promise<void> {
  const stored = await desk.state(backup.orderId);
  const inUse = lastInUse ?? stored;
  const restored = { ...backup, ...withCausesSince(backup, inUse, desk.clock.now()), ...countersAfterRestore(backup, inUse) };
  const write = await desk.store.update(restored, stored, { messages: [], announcements: [] });
  assert.equal(write.outcome, 'written');
  await desk.supervisor.pass();
  await desk.deliver('wake-ups');
}

const standing = async (desk: Desk, orderId: string, seq: number) => {
  const [exception, task] = await Promise.all([
    exceptionOf(exceptionIdOf(orderId, seq), desk.store),
    taskOf(taskIdOf(orderId, seq), desk.store),
  ]);
  return { exception: exception ? (exception.handling?.by ?? 'open') : 'none', task: task?.state, reason: task?.resolution?.reason };
};
const closedByRestore = { exception: 'supervisor', task: 'resolved', reason: 'The order was restored to an earlier moment.' };
const open = { exception: 'open', task: 'open', reason: undefined };

describe('X-37: the causes since the backup of a restored order', () => {
  test('an order at work that was blocked after the backup has its exception and its task closed, and their number is not used again', async (context) => {
    const { desk, orderId } = await ordered(context);
    const backup = await desk.state(orderId);
    await desk.answer(await desk.request(), failed('Closed'));
    assert.deepEqual(await standing(desk, orderId, 1), open);

    await restore(desk, backup);
    assert.deepEqual(await standing(desk, orderId, 1), closedByRestore);
    assert.ok(typesOf(desk.announcedCauses()).includes('Task Resolved'));
    assert.deepEqual((await desk.state(orderId)).outbox, []);
    await give(desk, orderId, report);
    assert.deepEqual([await standing(desk, orderId, 1), await standing(desk, orderId, 2)], [closedByRestore, open]);
  });

  test('F-103: a finished order whose undo for its caller failed after the backup has that cause closed and stays finished', async (context) => {
    const { desk, finished } = await finishedOrder(context);
    await restore(desk, finished, writtenSince(finished, opened(finished, { ...cause, name: 'undo/order/charge', isUndo: true }, 5)));
    assert.deepEqual(await standing(desk, finished.orderId, 1), closedByRestore);
    const { processState, outbox, worklist, causes } = await desk.state(finished.orderId);
    assert.deepEqual({ processState, outbox, worklist, causes }, { processState: 'Processed', outbox: [], worklist: null, causes: 1 });
  });

  test('F-152: a finished order that became inconsistent after the backup keeps the exception until a person acknowledges it', async (context) => {
    const { desk, finished } = await finishedOrder(context);
    const { orderId } = finished;
    await restore(desk, finished, writtenSince(finished, reported(finished, cause, 5)));
    assert.deepEqual(await standing(desk, orderId, 1), open);
    assert.partialDeepStrictEqual(await give(desk, orderId, { kind: 'acknowledge' }), { outcome: 'done' });
    assert.partialDeepStrictEqual(await standing(desk, orderId, 1), { exception: 'person', task: 'resolved' });
  });

  test('a cause whose records are still in the outbox is stored and closed', async (context) => {
    let isDown = false;
    const desk = openDesk(context, app, {
      writesAndSendsAtomically: false,
      around: ({ publisher }) => ({
        publisher: { publish: async (all) => (isDown ? Promise.reject(new Error('down')) : publisher.publish(all)) },
      }),
    });
    const orderId = await submitted(desk);
    const backup = await desk.state(orderId);
    isDown = true;
    await timePasses(desk.clock, desk.answer(await desk.request(), failed('Closed')));
    assert.ok((await desk.state(orderId)).outbox.some(({ kind }) => kind === 'opened'));
    isDown = false;

    await restore(desk, backup);
    assert.deepEqual(await standing(desk, orderId, 1), closedByRestore);
    assert.deepEqual(
      typesOf(desk.announcedCauses()).filter((type) => type.startsWith('Task')),
      ['Task Opened', 'Task Resolved'],
    );
  });

  test('an order without a cause since the backup is restored as it was', async (context) => {
    const { desk, orderId } = await ordered(context);
    await desk.answer(await desk.request(), failed('Closed'));
    const backup = await desk.state(orderId);
    assert.equal(withCausesSince(backup, await desk.state(orderId), desk.clock.now()), backup);
  });
});
