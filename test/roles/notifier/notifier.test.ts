import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import { changeNote } from '#roles/notifier/exception-notes';
import { createPeopleGroups } from '#roles/notifier/people-groups';
import { createTasks } from '#roles/tasks/tasks';
import { lineOf, stepsNamed, timePasses } from '../support.ts';
import { dayMs, hourMs, minuteMs, type NotifierDesk, openNotifier } from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

const subjects = ({ got }: NotifierDesk): readonly string[] => got.map(({ message }) => message.subject);
const terminate = (desk: NotifierDesk, orderId: string) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'olga', reason: 'test' }, { id: `end ${orderId}` }),
  );

describe('the people of a blocked order', () => {
  for (const { writesAndSendsAtomically, how } of modes)
    test(`F-153: hear of it once and at once, with what happened and what to do next (${how})`, async (context) => {
      const desk = openNotifier(context, line, { writesAndSendsAtomically });
      const orderId = await desk.blocked();
      await desk.pass();
      assert.equal(desk.got.length, 1, 'Order In Error, Exception Raised and Task Opened are one message');
      const [first] = desk.got;
      assert.ok(first);
      const { to, message } = first;
      assert.equal(to, 'https://usual.example/hook');
      assert.equal(message.subject, 'line is blocked at pick: Broken');
      assert.match(
        message.text,
        new RegExp(`^Order ${orderId} of line is blocked at order/pick since .* UTC: Broken\\. shelf 17 is empty`),
      );
      assert.match(message.text, new RegExp(`Next: npx redress order get ${orderId}`));
      await desk.during(hourMs);
      assert.equal(desk.got.length, 1);
    });

  test('F-153: hear of further exceptions of the same fingerprint in a summary, with exact figures', async (context) => {
    const desk = openNotifier(context, line);
    await desk.blocked();
    await desk.pass();
    for (let index = 0; index < 4; index++) await desk.blocked();
    const ended = await desk.blocked();
    await terminate(desk, ended);
    await desk.during(14 * minuteMs);
    assert.equal(desk.got.length, 1);
    await desk.during(2 * minuteMs);
    assert.deepEqual(subjects(desk).slice(1), ['line is blocked at pick: Broken (4 new, 5 open)']);
    assert.match(desk.got[1]?.message.text ?? '', /4 new tasks since the last message; 6 in all.*\n5 of them are still open/);
  });

  test('hear of an exception of another fingerprint at once', async (context) => {
    const desk = openNotifier(context, line);
    await desk.blocked('Broken');
    await desk.pass();
    await desk.blocked('Lost');
    await desk.pass();
    assert.deepEqual(subjects(desk), ['line is blocked at pick: Broken', 'line is blocked at pick: Lost']);
  });

  test('hear nothing of an order that went on before the notifier looked', async (context) => {
    const desk = openNotifier(context, line);
    await terminate(desk, await desk.blocked());
    await desk.during(hourMs);
    assert.deepEqual(desk.got, []);
  });

  test('hear of it at the destinations of their group, and at no other one', async (context) => {
    const desk = openNotifier(context, lineOf(stepsNamed('pick'), { people: { group: 'claims' } }));
    await desk.notifies('claims', 'https://one.example/a', 'https://two.example/b');
    await desk.notifies('other', 'https://three.example/c');
    await desk.blocked();
    await desk.pass();
    assert.deepEqual(desk.got.map(({ to }) => to).sort(), ['https://one.example/a', 'https://two.example/b']);
    assert.equal(new Set(desk.got.map(({ message }) => message.id)).size, 1, 'one message has one id');
  });

  test('F-153: are the admins if everybody has left the group since the task was opened', async (context) => {
    const desk = openNotifier(context, line);
    await desk.notifies('operators', 'https://operators.example/');
    await desk.notifies('admins', 'https://admins.example/');
    await desk.blocked();
    await desk.pass();
    await desk.blocked();
    await desk.pass();
    const empty = { name: 'operators', rev: 2, members: [], notify: [], by: 'ann', at: 0, reason: 'closed' } as const;
    await createPeopleGroups(desk.store).put(empty, []);
    await desk.during(20 * minuteMs);
    assert.deepEqual(
      desk.got.map(({ to }) => to),
      ['https://operators.example/', 'https://admins.example/'],
    );
  });

  test('F-154: hear nothing while the exceptions are muted, and then all of them in one message', async (context) => {
    const desk = openNotifier(context, line);
    const orderId = await desk.blocked();
    const task = await taskOf(taskIdOf(orderId, 1), desk.store);
    const mutedUntil = desk.clock.now() + 2 * hourMs;
    await changeNote(desk.store, task?.fingerprint ?? '', { mutedUntil }, { by: 'olga', at: desk.clock.now(), beside: () => [] });
    for (let index = 0; index < 3; index++) await desk.blocked();
    await desk.during(2 * hourMs - minuteMs);
    assert.equal(desk.got.length, 0);
    await desk.during(2 * minuteMs);
    assert.deepEqual(
      desk.got.map(({ message }) => message.data['new']),
      [4],
    );
  });
});

describe('many tasks', () => {
  const many = async (context: TestContext, tasks: number, typeOf: (index: number) => string) => {
    const desk = openNotifier(context, line);
    for (let index = 0; index < tasks; index++) await desk.blocked(typeOf(index));
    return desk;
  };

  test('F-153: lead to at most four messages in an hour if all tasks are of one kind', async (context) => {
    const desk = await many(context, 60, () => 'Broken');
    await desk.pass();
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await desk.blocked();
      await desk.during(5 * minuteMs);
    }
    assert.ok(desk.got.length >= 2 && desk.got.length <= 4, `${desk.got.length} messages`);
  });

  test('F-153: lead to ten messages in a quarter of an hour if they are of a hundred kinds, and one message says that more follow later', async (context) => {
    const desk = await many(context, 100, (index) => `Broken${index}`);
    await desk.during(14 * minuteMs);
    assert.equal(desk.got.length, 10);
    const saying = desk.got.filter(({ message }) =>
      /has got as many messages as it may, and gets no further one before/.test(message.text),
    );
    assert.equal(saying.length, 1);
    await desk.during(15 * minuteMs);
    assert.equal(desk.got.length, 20);
  });
});

describe('a reminder', () => {
  const people = { group: 'claims', dueSeconds: 4 * 3600, every: 3600, escalateTo: ['leads'] };
  const reminded = lineOf(stepsNamed('pick'), { people });
  const reminders = (desk: NotifierDesk) => desk.publisher.published(0, 10_000).filter(({ detailType }) => detailType === 'Task Reminder');

  test('F-154: is announced when the task is due, then at growing intervals, and goes to the next group every second time', async (context) => {
    const desk = openNotifier(context, reminded);
    await desk.notifies('claims', 'https://claims.example/');
    await desk.notifies('leads', 'https://leads.example/');
    const begin = desk.clock.now();
    const taskId = taskIdOf(await desk.blocked(), 1);
    await desk.during(12 * hourMs);
    assert.deepEqual(
      reminders(desk).map(({ detail, publishedAt }) => [
        detail['taskId'],
        detail['number'],
        detail['group'],
        (publishedAt - begin) / hourMs,
      ]),
      [
        [taskId, 1, 'claims', 4],
        [taskId, 2, 'claims', 5],
        [taskId, 3, 'claims', 7],
        [taskId, 4, 'claims', 11],
      ],
    );
    assert.deepEqual(
      desk.got.map(({ to, message }) => [to, message.type]),
      [
        ['https://claims.example/', 'task.opened'],
        ['https://claims.example/', 'task.reminder'],
        ['https://leads.example/', 'task.reminder'],
        ['https://leads.example/', 'task.reminder'],
        ['https://leads.example/', 'task.reminder'],
      ],
    );
    assert.match(desk.got[2]?.message.text ?? '', /This is reminder 2\. The group claims has not resolved it\./);
    assert.partialDeepStrictEqual(await taskOf(taskId, desk.store), { reminders: 4, escalation: { level: 2, to: 'leads' } });
  });

  test('F-154: does not come after the task is resolved', async (context) => {
    const desk = openNotifier(context, reminded);
    const orderId = await desk.blocked();
    await desk.during(hourMs);
    await terminate(desk, orderId);
    await desk.during(dayMs, 10 * minuteMs);
    assert.deepEqual(reminders(desk), []);
  });
});

describe('a claim', () => {
  const people = { group: 'claims', dueSeconds: 4 * 3600, every: 3600 };
  const act = (desk: NotifierDesk, id: string, action: 'claim' | 'release') =>
    createTasks(desk.system).act(id, { act: { action }, by: 'olga', isAdmin: false });
  const remindedAt = (desk: NotifierDesk, begin: number) =>
    desk.publisher
      .published(0, 10_000)
      .filter(({ detailType }) => detailType === 'Task Reminder')
      .map(({ detail, publishedAt }) => [detail['number'], (publishedAt - begin) / hourMs]);

  test('F-154: delays the reminder until it has lasted as long as the time limit of the task', async (context) => {
    const desk = openNotifier(context, lineOf(stepsNamed('pick'), { people }));
    const begin = desk.clock.now();
    const taskId = taskIdOf(await desk.blocked(), 1);
    await desk.during(3 * hourMs);
    assert.equal((await act(desk, taskId, 'claim')).outcome, 'done');
    await desk.during(6 * hourMs);
    assert.deepEqual(remindedAt(desk, begin), [
      [1, 7],
      [2, 8],
    ]);
  });

  test('F-154: lets the reminders begin again when it is released, and each is announced', async (context) => {
    const desk = openNotifier(context, lineOf(stepsNamed('pick'), { people }));
    const begin = desk.clock.now();
    const taskId = taskIdOf(await desk.blocked(), 1);
    await desk.during(5 * hourMs);
    await act(desk, taskId, 'claim');
    await desk.during(hourMs);
    await act(desk, taskId, 'release');
    await desk.pass();
    await desk.during(2 * hourMs);
    assert.deepEqual(remindedAt(desk, begin), [
      [1, 4],
      [2, 5],
      [1, 6],
      [2, 7],
    ]);
  });
});

describe('a message that does not arrive', () => {
  test('is tried again under the same id, after growing pauses', async (context) => {
    const desk = openNotifier(context, line);
    let refusals = 3;
    desk.answers(() =>
      refusals-- > 0 ? { outcome: 'failed', reason: 'The receiver answered 503; expected 2xx.' } : { outcome: 'delivered' },
    );
    await desk.blocked();
    await desk.pass();
    await desk.during(6 * minuteMs);
    assert.deepEqual(desk.got, []);
    await desk.during(2 * minuteMs);
    assert.equal(desk.got.length, 1);
  });

  test('becomes a task for admins after a day, and the task ends when a later message arrives', async (context) => {
    const desk = openNotifier(context, line);
    await desk.notifies('admins', 'https://admins.example/');
    desk.answers((to) => (to.includes('admins') ? { outcome: 'delivered' } : { outcome: 'failed', reason: 'The receiver answered 500.' }));
    await desk.blocked();
    await desk.during(26 * hourMs, 5 * minuteMs);
    const [first] = desk.got;
    assert.ok(first);
    const { message } = first;
    assert.equal(message.data['kind'], 'dead-letter');
    assert.match(message.text, /Messages for the group operators do not reach https:\/\/usual\.example: The receiver answered 500\./);
    const taskId = String(message.data['taskId']);
    assert.equal((await taskOf(taskId, desk.store))?.state, 'open');
    desk.answers(() => ({ outcome: 'delivered' }));
    await desk.during(dayMs, 5 * minuteMs);
    assert.equal((await taskOf(taskId, desk.store))?.state, 'resolved');
  });
});
