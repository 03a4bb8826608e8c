import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { askOperator, check, defineApp, defineWorkflow, sequence } from 'redress';
import * as z from 'zod';
import type { People } from '#core/definition/people';
import { steeringText } from '#core/definition/steering';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import { failed, lineOf, openDesk, stepsNamed, submitted } from './support.ts';

const claims: People = { group: 'claims', dueSeconds: 600, every: 60, escalateTo: ['leads', 'managers'] };

const asking = (ofWorkflow: People | undefined, ofQuestion: People | undefined) =>
  defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }), ...(ofWorkflow ? { people: ofWorkflow } : {}) }, () =>
    sequence(
      askOperator('count', {
        question: 'How many?',
        answer: z.object({ count: z.number() }),
        ...(ofQuestion ? { people: ofQuestion } : {}),
      }),
    ),
  );

async function taskOfQuestion(context: TestContext, ofWorkflow: People | undefined, ofQuestion: People | undefined, variables = {}) {
  const desk = openDesk(context, defineApp({ workflows: [asking(ofWorkflow, ofQuestion)], agents: [] }), { variables });
  const task = await taskOf(taskIdOf(await submitted(desk), 1), desk.store);
  assert.ok(task);
  const { group, every, escalateTo } = task;
  return { group, dueSeconds: (task.dueAt - task.openedAt) / 1000, every, escalateTo };
}

describe('the option people', () => {
  test('F-153, F-177: says whom a question is for, when it is due, and who hears of it if nobody takes it', async (context) => {
    assert.deepEqual(await taskOfQuestion(context, undefined, claims), claims);
    assert.deepEqual(await taskOfQuestion(context, claims, { dueSeconds: 30 }), { ...claims, dueSeconds: 30 });
  });

  test('takes the time until a task is due from TASK_DUE_SECONDS if it names none', async (context) => {
    const plain = { group: undefined, every: undefined, escalateTo: undefined };
    assert.deepEqual(await taskOfQuestion(context, undefined, undefined), { ...plain, dueSeconds: 14_400 });
    assert.deepEqual(await taskOfQuestion(context, undefined, undefined, { TASK_DUE_SECONDS: '90' }), { ...plain, dueSeconds: 90 });
  });

  for (const how of ['a fault of a step', 'a late step, which the supervisor finds'] as const)
    test(`F-153: the people option of a workflow holds for the task of ${how}`, async (context) => {
      const app = lineOf(stepsNamed('pick'), { maxFailures: 0, people: claims });
      const desk = openDesk(context, app);
      const orderId = await submitted(desk);
      if (how === 'a fault of a step') await desk.answer(await desk.request(), failed('Broken', 'shelf 17 is empty'));
      else {
        await desk.clock.advance(10_000);
        await desk.supervisor.pass();
        await desk.deliver('wake-ups');
      }
      const task = await taskOf(taskIdOf(orderId, 1), desk.store);
      assert.partialDeepStrictEqual(task, { group: 'claims', every: 60, escalateTo: ['leads', 'managers'] });
      assert.equal((task?.dueAt ?? 0) - (task?.openedAt ?? 0), 600_000);
    });

  test('may change within a version: it does not steer an order', () => {
    assert.equal(steeringText(asking(claims, claims)), steeringText(asking(undefined, undefined)));
  });

  test('is refused if a field is wrong, with the name of the field and what it may be', () => {
    const problems = (people: object) => check({ ...asking(undefined, undefined), people }).map(({ message }) => message);
    assert.deepEqual(problems(claims), []);
    assert.match(problems({ group: '' }).join(), /^people\.group is ""; it must be a text of 1 to 64 characters\.$/);
    assert.match(problems({ every: 0 }).join(), /^people\.every is 0; it must be a number above 0\.$/);
    assert.match(problems({ escalateTo: [] }).join(), /^people\.escalateTo is \[\]; it must be a list of 1 to 8 names of groups/);
    assert.match(problems({ escalteTo: ['leads'] }).join(), /unknown field "escalteTo"; it may have group, dueSeconds, every, escalateTo/);
    assert.throws(() => asking(undefined, { dueSeconds: -1 }), /order\/count: people\.dueSeconds is -1/);
  });
});
