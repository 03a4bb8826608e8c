import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { AnyFault, askOperator, defineAgent, defineApp, defineWorkflow, operation, scope, sequence } from 'redress';
import * as z from 'zod';
import type { Rule, RuleAction } from '#core/rules/rule';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { storeCause } from '#roles/exceptions/store';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { createTasks } from '#roles/tasks/tasks';
import { ensure } from '../../../examples/activities/own/ensure.ts';
import { rule } from '../../support/rules.ts';
import { type DeskOptions, journalOf, ok, submitted, tea, timePasses } from '../support.ts';
import { minuteMs, type NotifierDesk, openNotifier } from './support.ts';

const plain = { input: z.object({}), output: z.object({}), run: () => ({}) };
const worker = defineAgent('worker', {
  pick: operation(plain),
  putBack: operation(plain),
  guess: operation(plain),
  pack: operation(plain),
});
const count = askOperator('count', { question: 'How many?', answer: z.object({ count: z.number() }) });
const line = defineWorkflow(
  'line',
  { version: 1, order: z.object({ item: z.string() }), people: { group: 'claims', dueSeconds: 600 } },
  () =>
    sequence(
      worker.pick({}).undo(() => worker.putBack({})),
      scope('ask', count).on(AnyFault, () => worker.guess({}).noUndo()),
      worker.pack({}).noUndo(),
    ),
);
const rescue = defineWorkflow('rescue', { version: 1, order: z.looseObject({ orderId: z.string() }) }, () => sequence());
/** Asks in a clean-up. */
const closing = defineWorkflow('closing', { version: 1, order: z.object({ item: z.string() }), people: { group: 'claims' } }, () =>
  sequence(ensure({}, { do: worker.pick({}).noUndo(), last: count })),
);
const app = defineApp({ workflows: [line, rescue, closing], agents: [worker] });

interface Asked {
  readonly desk: NotifierDesk;
  readonly orderId: string;
  /** Passes of the notifier, with what the order does about its reports. */
  look(ms?: number): Promise<void>;
}

interface Given {
  readonly action?: RuleAction;
  /** The members of the group `claims`. */
  readonly members?: readonly string[];
  readonly rule?: Partial<Rule>;
  readonly options?: DeskOptions;
}

/** An order that asks the group `claims`, with a rule about questions that nobody takes. */
async function asked(context: TestContext, { action, members = [], rule: more = {}, options = {} }: Given = {}): Promise<Asked> {
  const desk = openNotifier(context, app, options);
  const groups = createPeopleGroups(desk.store);
  await groups.put({ name: 'claims', rev: 1, members, notify: [], by: 'ann', at: 0, reason: 'test' }, []);
  await desk.notifies('night', 'https://night.example/hook');
  await desk.notifies('admins', 'https://admins.example/hook');
  const event = { kind: 'exception', type: 'Engine/GroupEmpty' } as const;
  if (action)
    await desk.system.rules.put(rule({ id: 'nobody', event, action, ...more }), { by: 'ada', reason: 'test', expected: undefined });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request());
  const look = async (ms = 0): Promise<void> => {
    if (ms > 0) await desk.clock.advance(ms);
    await desk.pass();
    await desk.deliver('wake-ups');
    await desk.pass();
  };
  return { desk, orderId, look };
}

const taskIn = async ({ desk, orderId }: Asked, seq = 1) => (await taskOf(taskIdOf(orderId, seq), desk.store)) ?? assert.fail('no task');
const exceptionIn = ({ desk, orderId }: Asked, seq = 2) => exceptionOf(exceptionIdOf(orderId, seq), desk.store);
const standing = async ({ desk, orderId }: Asked) => {
  const { processState, suspended, fault: blocking } = await desk.state(orderId);
  return [processState, suspended, blocking?.type];
};
const requested = async ({ desk }: Asked) => (await desk.requests()).map(({ path }) => path);
const told = ({ desk }: Asked) => desk.got.map(({ to, message }) => [new URL(to).hostname, message.subject.replace(/ .*/, '')].join(' '));
const exceptionsOf = async ({ desk, orderId }: Asked) =>
  (await journalOf(desk, orderId)).filter(({ type }) => type === 'ExceptionDetected').length;
const answer = ({ desk, orderId }: Asked) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'ann', reason: 'counted', answer: { count: 3 } }, { id: 'answer' }),
  );

describe('an order that asks an empty group', () => {
  for (const writesAndSendsAtomically of [true, false])
    test(`F-177: an order whose question goes to an empty group has an exception, and without a rule the admins hear of it (in one transaction: ${writesAndSendsAtomically})`, async (context) => {
      const order = await asked(context, { options: { writesAndSendsAtomically } });
      await order.look();
      assert.partialDeepStrictEqual(await exceptionIn(order), {
        type: 'GroupEmpty',
        class: 'unexpected',
        path: 'order/ask/count',
        message: 'The group claims has no members, so nobody answers the question.',
        data: { group: 'claims' },
        handling: null,
        taskId: taskIdOf(order.orderId, 1),
      });
      assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
      assert.deepEqual(told(order), [], 'the rules decide first');
      await order.look(10_000);
      assert.deepEqual(told(order), ['admins.example line']);

      await answer(order);
      assert.partialDeepStrictEqual(await exceptionIn(order), { handling: { by: 'person', id: 'ann' } });
      assert.deepEqual(await requested(order), ['order/pack']);
    });

  for (const writesAndSendsAtomically of [true, false])
    test(`F-177: an order whose question goes to an empty group hands the question to another group if a rule says so (in one transaction: ${writesAndSendsAtomically})`, async (context) => {
      const action = { kind: 'task', group: 'night', dueSeconds: 7200, text: 'Nobody of claims is there.' } as const;
      const order = await asked(context, { action, options: { writesAndSendsAtomically } });
      await order.look();
      const { openedAt, ...task } = await taskIn(order);
      assert.partialDeepStrictEqual(task, { group: 'night', text: 'Nobody of claims is there.', state: 'open', reminders: 0 });
      assert.equal(task.dueAt - openedAt, 120 * minuteMs);
      assert.deepEqual(told(order), ['night.example line']);
      await order.look(10_000);
      await order.look(30 * minuteMs);
      assert.deepEqual(told(order), ['night.example line'], 'the people of one group hear of it, once');
      assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
    });

  test('F-177: an order whose question goes to an empty group is suspended by a rule, and asks again when it is resumed', async (context) => {
    const order = await asked(context, { action: { kind: 'suspend' } });
    await order.look();
    assert.deepEqual(await standing(order), ['Processing', true, undefined]);
    assert.partialDeepStrictEqual(await exceptionIn(order), { handling: { by: 'rule', id: 'nobody', control: 'ready' } });
    assert.partialDeepStrictEqual(await taskIn(order), { state: 'resolved', resolution: { by: 'nobody' } });
    assert.partialDeepStrictEqual(await taskIn(order, 3), { kind: 'rule', state: 'open' });

    const { desk, orderId } = order;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'resume', by: 'ann', reason: 'back' }, { id: 'resume' }));
    assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
    await answer(order);
    assert.deepEqual(await requested(order), ['order/pack']);
  });

  test('F-177: an order whose question goes to an empty group asks again after a pause that a rule sets, at most as often as the rule allows', async (context) => {
    const order = await asked(context, { action: { kind: 'retry', afterSeconds: 300 }, rule: { timesPerOrder: 1 } });
    await order.look();
    assert.deepEqual(await standing(order), ['Processing', false, undefined]);
    assert.partialDeepStrictEqual(await taskIn(order), { state: 'resolved', resolution: { by: 'nobody' } });
    await order.desk.clock.advance(300_000);
    await order.desk.supervisor.pass();
    await order.desk.deliver('wake-ups');
    assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
    assert.partialDeepStrictEqual(await taskIn(order, 3), { kind: 'question', state: 'open', group: 'claims' });

    await order.look();
    assert.partialDeepStrictEqual(await exceptionIn(order, 4), { type: 'GroupEmpty', handling: null });
    assert.partialDeepStrictEqual(await exceptionIn(order, 5), {
      type: 'RuleStopped',
      causedBy: exceptionIdOf(order.orderId, 4),
      taskId: taskIdOf(order.orderId, 3),
    });
    assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked'], 'the question stays open');
    await answer(order);
    assert.deepEqual(await requested(order), ['order/pack']);
  });

  test('F-177: an order whose question goes to an empty group goes on in its own handler if a rule raises a fault', async (context) => {
    const order = await asked(context, { action: { kind: 'raise', type: 'NoVerdict', message: 'Nobody is there.' } });
    await order.look();
    assert.deepEqual(await requested(order), ['order/ask/on-AnyFault/guess']);
    assert.partialDeepStrictEqual(await exceptionIn(order), { handling: { by: 'rule', control: 'resumed' } });
  });

  test('F-177: a rule undoes an order whose question goes to an empty group', async (context) => {
    const order = await asked(context, { action: { kind: 'compensate' } });
    await order.look();
    const undo = await order.desk.request();
    assert.equal(undo.path, 'order/pick/undo');
    await order.desk.answer(undo, ok());
    assert.equal((await order.desk.state(order.orderId)).outcome, 'compensated');
  });

  test('F-177: an order whose question goes to an empty group asks again when the handler of a rule has completed', async (context) => {
    const order = await asked(context, { action: { kind: 'handle', workflow: 'rescue', control: 'ready' } });
    await order.look();
    assert.deepEqual(await standing(order), ['Processing', true, undefined]);
    await order.desk.deliver('submissions');
    await order.desk.deliver('wake-ups');
    assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
    assert.partialDeepStrictEqual(await taskIn(order, 3), { kind: 'question', state: 'open' });
  });

  test('F-177: an order keeps its question if the action of a rule does not fit it: the action skip is for steps', async (context) => {
    const order = await asked(context, { action: { kind: 'skip', output: {} } });
    await order.look();
    assert.deepEqual(await standing(order), ['Error', false, 'OperatorAsked']);
    assert.partialDeepStrictEqual(await exceptionIn(order, 3), { type: 'RuleFailed', handling: null, taskId: taskIdOf(order.orderId, 1) });
  });

  test('F-177: an order whose question a rule gives to empty groups again and again has few exceptions, and the admins hear of the question', async (context) => {
    const order = await asked(context, { action: { kind: 'task', group: 'claims' }, rule: { timesPerOrder: 20 } });
    for (let pass = 0; pass < 8; pass++) await order.look(1000);
    assert.equal(await exceptionsOf(order), 4);
    await order.look(10_000);
    assert.deepEqual(told(order), ['admins.example line']);
  });

  test('F-177: an order applies the decision of a rule about its question once: after that, people decide', async (context) => {
    const order = await asked(context, { action: { kind: 'task', group: 'night' } });
    await order.look();
    const { orderId, submittedAt, seq } = await taskIn(order);
    const { store } = order.desk;
    await createTasks(order.desk).act(taskIdOf(orderId, 1), { act: { action: 'assign', group: 'day' }, by: 'ann', isAdmin: true });
    const { at, exception } = (await taskIn(order)).handed ?? assert.fail('no rule');
    await storeCause({ id: 'again', kind: 'handed', orderId, submittedAt, seq, at, exception, group: 'night' }, store);
    assert.equal((await taskIn(order)).group, 'day');
  });

  test('F-177: an order that is being undone has the exception, and no rule decides about it', async (context) => {
    const { desk, look } = await asked(context, { action: { kind: 'compensate' } });
    const orderId = await submitted(desk, tea, { workflow: 'closing' });
    await timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'ann', reason: 'a mistake' }, { id: 'end' }),
    );
    await desk.answer((await desk.requests()).find((each) => each.orderId === orderId) ?? assert.fail('no request'));
    await look();
    assert.deepEqual(await standing({ desk, orderId, look }), ['Error', false, 'OperatorAsked']);
    assert.partialDeepStrictEqual(await exceptionIn({ desk, orderId, look }), { type: 'GroupEmpty', handling: null });
  });

  test('F-177: an order takes the report that its group is empty once, and takes no report about a question that is answered', async (context) => {
    const order = await asked(context);
    await order.desk.pass();
    const [report] = order.desk.messages('wake-ups').filter((message) => message['unattended'] !== undefined);
    await order.look();
    await order.desk.send('wake-ups', report);
    await order.desk.deliver('wake-ups');
    assert.equal(await exceptionsOf(order), 1);
    await answer(order);
    await order.desk.send('wake-ups', { ...report, unattended: { id: 'another', seq: 1, why: 'group-empty', group: 'claims' } });
    await order.desk.deliver('wake-ups');
    assert.equal(await exceptionsOf(order), 1);
  });
});

describe('an order whose question nobody claims in time', () => {
  const late = { event: { kind: 'exception', type: 'NobodyInTime' } } as const;
  const action = { kind: 'task', group: 'night' } as const;

  test('F-177: an order whose question nobody claims in time has an exception, and without a rule the task is as before', async (context) => {
    const order = await asked(context, { members: ['ann'] });
    await order.look();
    assert.equal(await exceptionIn(order), undefined);
    await order.look(600_000);
    assert.partialDeepStrictEqual(await exceptionIn(order), {
      type: 'NobodyInTime',
      message: 'Nobody of the group claims has claimed the question before it was due.',
      handling: null,
    });
    assert.partialDeepStrictEqual(await taskIn(order), { group: 'claims', state: 'open', reminders: 1 });
    await order.look(3_600_000);
    assert.equal(await exceptionIn(order, 3), undefined, 'one exception, however many reminders');
  });

  test('F-177: an order whose question nobody claims in time hands the question to another group if a rule says so, and that group has as much time', async (context) => {
    const order = await asked(context, { members: ['ann'], action, rule: late });
    await order.look();
    await order.look(600_000);
    const { dueAt, ...task } = await taskIn(order);
    assert.partialDeepStrictEqual(task, { group: 'night', state: 'open', reminders: 0 });
    assert.equal(dueAt, order.desk.clock.now() + 600_000);
    assert.ok(told(order).includes('night.example line'));
    await order.look(600_000);
    assert.partialDeepStrictEqual(await exceptionIn(order, 3), { type: 'NobodyInTime', data: { group: 'night' } });
  });

  test('F-177: an order whose question somebody has claimed has no exception, and a rule does not take the task away', async (context) => {
    const order = await asked(context, { members: ['ann'], action, rule: late });
    const { desk, orderId } = order;
    const claim = () => createTasks(desk).act(taskIdOf(orderId, 1), { act: { action: 'claim' }, by: 'ann', isAdmin: false });
    await order.look();
    await claim();
    await order.look(600_000);
    assert.equal(await exceptionIn(order), undefined);

    const second = await asked(context, { members: ['ann'], action, rule: late });
    await second.look();
    await second.desk.clock.advance(600_000);
    await second.desk.pass();
    await createTasks(second.desk).act(taskIdOf(second.orderId, 1), { act: { action: 'claim' }, by: 'ann', isAdmin: false });
    await second.desk.deliver('wake-ups');
    assert.partialDeepStrictEqual(await taskIn(second), { group: 'claims', assignee: 'ann', state: 'claimed' });
  });
});
