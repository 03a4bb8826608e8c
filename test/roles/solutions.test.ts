import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { noFigures, type SolutionFigures } from '#core/solutions/rank';
import type { Solution } from '#core/solutions/solution';
import type { TaskRecord } from '#ports/tasks';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import type { Instruction } from '#roles/operator/instruction';
import { figuresOf } from '#roles/solutions/figures';
import { failed, journalOf, lineOf, nothing, openDesk, submitted, timePasses } from './support.ts';

const line = lineOf({ pick: nothing, pack: nothing });
const solution = { id: 'again', version: 1 };
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

async function blocked(context: TestContext, writesAndSendsAtomically = true) {
  const desk = openDesk(context, line, { writesAndSendsAtomically });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
  let calls = 0;
  const instruct = (kind: 'resubmit' | 'terminate' | 'acknowledge') => {
    const decision = { kind, by: 'olga', reason: 'mended' } as Instruction;
    return timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: `i-${++calls}`, solution }));
  };
  const figures = async (): Promise<SolutionFigures> => (await figuresOf(desk.store))({ id: 'again', instructionSince: 1 } as Solution);
  const task = async (): Promise<TaskRecord | undefined> => taskOf(taskIdOf(orderId, 1), desk.store);
  return { desk, orderId, instruct, figures, task };
}

describe('the figures of a solution', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-155: count a use with the task that it resolves, and its outcome with the verdict, each once (${how})`, async (context) => {
      const { desk, orderId, instruct, figures, task } = await blocked(context, writesAndSendsAtomically);
      await instruct('resubmit');
      const used = { ...noFigures, used: 1, lastUsedAt: desk.clock.now() };
      assert.deepEqual(await figures(), used);
      assert.deepEqual((await task())?.resolution?.solution, solution);
      await desk.answer(await desk.request());
      assert.deepEqual(await figures(), { ...used, passed: 1 });
      await desk.answer(await desk.request(), failed('Broken', 'the next step'));
      assert.deepEqual(await figures(), { ...used, passed: 1 }, 'later events of the order change nothing');
      const given = (await journalOf(desk, orderId)).find(({ type }) => type === 'InstructionGiven');
      assert.partialDeepStrictEqual(given, { kind: 'resubmit', solution: 'again' });
    });

    test(`F-155: say that a use has failed again (${how})`, async (context) => {
      const { desk, instruct, figures } = await blocked(context, writesAndSendsAtomically);
      await instruct('resubmit');
      await desk.answer(await desk.request(), failed('Broken', 'shelf 18 is empty'));
      assert.partialDeepStrictEqual(await figures(), { used: 1, passed: 0, failedAgain: 1 });
    });
  }

  test('F-155: say that a use ended in another exception, which is no success', async (context) => {
    const { desk, instruct, figures } = await blocked(context);
    await instruct('resubmit');
    await desk.answer(await desk.request(), failed('Wet', 'shelf 17 is wet'));
    assert.partialDeepStrictEqual(await figures(), { used: 1, passed: 0, failedAgain: 0, failedOtherwise: 1 });
  });

  test('F-155: count no instruction that nothing verifies', async (context) => {
    const { instruct, figures, task } = await blocked(context);
    for (const kind of ['acknowledge', 'terminate'] as const) assert.equal((await instruct(kind)).outcome, 'done');
    assert.deepEqual([await figures(), (await task())?.resolution?.solution], [noFigures, solution]);
  });
});
