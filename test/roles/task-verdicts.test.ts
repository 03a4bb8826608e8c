import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { queueNames } from '#ports/messages';
import type { TaskRecord } from '#ports/tasks';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import type { Instruction } from '#roles/operator/instruction';
import { type Desk, failed, lineOf, nothing, ok, openDesk, submitted, timePasses } from './support.ts';

const line = lineOf({ pick: nothing, pack: nothing });
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

let calls = 0;
type Given<K = Instruction> = K extends Instruction ? Omit<K, 'by' | 'reason'> : never;
async function instruct(desk: Desk, orderId: string, given: Given) {
  const decision = { ...given, by: 'olga', reason: 'mended' } as Instruction;
  const instructed = await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: `i-${++calls}` }));
  assert.equal(instructed.outcome, 'done', JSON.stringify(instructed));
}

async function blocked(context: TestContext, writesAndSendsAtomically = true) {
  const desk = openDesk(context, line, { writesAndSendsAtomically });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
  const task = async (seq = 1): Promise<TaskRecord | undefined> => taskOf(taskIdOf(orderId, seq), desk.store);
  return { desk, orderId, task };
}

const restart = { kind: 'restart', undoFirst: false } as const;

describe('the verdict about an instruction that resolved a task', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`is passed as soon as the failed step succeeds, and counted once (${how})`, async (context) => {
      const { desk, orderId, task } = await blocked(context, writesAndSendsAtomically);
      await instruct(desk, orderId, { kind: 'resubmit' });
      assert.partialDeepStrictEqual(await task(), {
        state: 'resolved',
        verified: 'running',
        resolution: { instruction: { kind: 'resubmit' } },
      });
      await desk.answer(await desk.request());
      const passed = await task();
      assert.equal(passed?.verified, 'passed');
      await desk.answer(await desk.request(), failed('Broken', 'the next step'));
      assert.deepEqual(await task(), passed, 'later events change nothing');
      assert.deepEqual((await desk.state(orderId)).blob.includes('"watches"'), false, 'the order watches nothing any more');
    });

    test(`is failed-again for the same fingerprint, and the new task names the one before (${how})`, async (context) => {
      const { desk, orderId, task } = await blocked(context, writesAndSendsAtomically);
      await instruct(desk, orderId, { kind: 'resubmit' });
      await desk.answer(await desk.request(), failed('Broken', 'shelf 18 is empty'));
      assert.partialDeepStrictEqual(await task(), { verified: 'failed-again', nextTaskId: taskIdOf(orderId, 2) });
      assert.partialDeepStrictEqual(await task(2), { state: 'open', previousTaskId: taskIdOf(orderId, 1) });
    });
  }

  test('is failed-otherwise if an exception of another fingerprint comes first', async (context) => {
    const { desk, orderId, task } = await blocked(context);
    await instruct(desk, orderId, { kind: 'resubmit' });
    await desk.answer(await desk.request(), failed('Wet', 'shelf 17 is wet'));
    const { verified, nextTaskId } = (await task()) as TaskRecord;
    assert.deepEqual([verified, nextTaskId], ['failed-otherwise', undefined]);
  });

  test('is void if somebody ends the order first, and absent for instructions that end it', async (context) => {
    const { desk, orderId, task } = await blocked(context);
    await instruct(desk, orderId, { kind: 'resubmit' });
    await instruct(desk, orderId, { kind: 'terminate' });
    assert.equal((await task())?.verified, 'void');
    const other = await blocked(context);
    await instruct(other.desk, other.orderId, { kind: 'terminate' });
    assert.equal((await other.task())?.verified, undefined);
  });

  test('is passed after skip when the next activity succeeds, and after compensate when the order ends compensated', async (context) => {
    const skipped = await blocked(context);
    await instruct(skipped.desk, skipped.orderId, { kind: 'skip', output: {}, effect: 'none' });
    assert.equal((await skipped.task())?.verified, 'running');
    await skipped.desk.answer(await skipped.desk.request());
    assert.equal((await skipped.task())?.verified, 'passed');
    const undone = await blocked(context);
    await instruct(undone.desk, undone.orderId, { kind: 'compensate' });
    assert.partialDeepStrictEqual(await undone.task(), { verified: 'passed' });
  });

  for (const [result, verdict] of [
    [ok(), 'passed'],
    [failed('Broken', 'shelf 17 is empty'), 'failed-again'],
  ] as const)
    test(`is ${verdict} after a restart if the same step ${verdict === 'passed' ? 'succeeds' : 'fails'} in the new order`, async (context) => {
      const { desk, orderId, task } = await blocked(context);
      await instruct(desk, orderId, restart);
      assert.equal((await task())?.verified, 'running');
      await desk.deliver(queueNames.submissions);
      await desk.answer(await desk.request(), result);
      assert.equal((await task())?.verified, verdict);
    });
});
