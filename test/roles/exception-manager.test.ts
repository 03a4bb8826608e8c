import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { waitOfHead } from '#api/order-waits';
import type { Rule } from '#core/rules/rule';
import { explain } from '#core/views/explain';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { decodeInstance } from '#roles/scheduler/instance';
import { followedOf } from '#roles/scheduler/step-report';
import { rule } from '../support/rules.ts';
import { type Desk, failed, journalOf, lineOf, ok, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

const declined = failed('Declined', 'no money');

/** An order with three steps and these rules. Its second step is at work. */
async function ordered(context: TestContext, ...rules: readonly (Partial<Rule> & { readonly id: string })[]) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two', 'three')));
  for (const each of rules)
    await desk.system.rules.put(rule({ name: each.id, ...each }), { by: 'ada', reason: 'a test', expected: undefined });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request());
  return { desk, orderId };
}

const factsIn = async (desk: Desk, orderId: string) =>
  (await journalOf(desk, orderId)).filter(({ type }) =>
    /^(Exception|Rule|OrderBlocked|StepRequested|ActivityClosed|InstructionGiven)/.test(type),
  );
const exceptionIn = (desk: Desk, orderId: string, seq = 1) => exceptionOf(exceptionIdOf(orderId, seq), desk.store);
const taskIn = (desk: Desk, orderId: string, seq = 1) => taskOf(taskIdOf(orderId, seq), desk.store);
const requested = async (desk: Desk) => (await desk.requests()).map(({ path, attempt, input }) => ({ path, attempt, input }));

/** Returns what an operator sees of the present wait: the explanation, and the rows of the steps that wait. */
async function shownOf(desk: Desk, orderId: string) {
  const record = await desk.state(orderId);
  const { state } = decodeInstance(record);
  const program = desk.system.definitions.programOf(record) ?? assert.fail();
  const rows = followedOf(program, await journalOf(desk, orderId), state, () => null);
  const list = waitOfHead(record, program);
  return {
    list,
    why: explain(program, state),
    waits: rows.flatMap(({ path, waitsFor }) => (waitsFor ? [`${path} ${waitsFor.kind}`] : [])),
  };
}

describe('an exception about which a rule acts', () => {
  test('F-130, F-131: stops the order first; the history has the three phases of the exception, and its record names the rule', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'again', action: { kind: 'retry' } });
    await desk.answer(await desk.request(), declined);
    const exceptionId = exceptionIdOf(orderId, 1);
    const facts = await factsIn(desk, orderId);
    const order = facts.map(({ type }) => type);
    assert.deepEqual(order.slice(order.indexOf('OrderBlocked')), [
      'OrderBlocked',
      'ExceptionDetected',
      'ExceptionDiagnosed',
      'RuleActed',
      'StepRequested',
      'ExceptionHandled',
    ]);
    const diagnosed = facts.find(({ type }) => type === 'ExceptionDiagnosed');
    assert.partialDeepStrictEqual(diagnosed, { exceptionId, class: 'unexpected', rules: [{ id: 'again', version: 1, matched: true }] });
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), {
      type: 'Declined',
      handling: { by: 'rule', id: 'again', control: 'ready' },
    });
    assert.equal(await taskIn(desk, orderId), undefined);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('F-139: after the pause of a retry, the failed step is requested again', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'later', action: { kind: 'retry', afterSeconds: 60 } });
    await desk.answer(await desk.request(), declined);
    assert.deepEqual(await requested(desk), []);
    const { list, why, waits } = await shownOf(desk, orderId);
    const paused = (await desk.state(orderId)).nextDueAt;
    assert.deepEqual(list, { kind: 'time', path: 'order/two', until: paused });
    assert.match(why, /^Waits until 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ before it runs order\/two once more\.$/);
    assert.deepEqual(waits, ['order/two time']);
    await desk.clock.advance(61_000);
    await timePasses(desk.clock, desk.supervisor.pass());
    await desk.deliver('wake-ups');
    assert.deepEqual(
      (await requested(desk)).map(({ path }) => path),
      ['order/two'],
    );
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.equal((await shownOf(desk, orderId)).list, undefined);
  });

  test('F-139: a skip closes the step with the output of the rule, and the next step begins', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'skip', action: { kind: 'skip', output: { free: true } } });
    await desk.answer(await desk.request(), declined);
    assert.deepEqual(
      (await requested(desk)).map(({ path }) => path),
      ['order/three'],
    );
    const closed = (await journalOf(desk, orderId)).findLast(({ type }) => type === 'ActivityClosed');
    assert.partialDeepStrictEqual(closed, { path: 'order/two', result: 'Succeeded', output: { free: true } });
  });

  test('F-139: if the rule replaces the input, the step is requested with the new input under a new key', async (context) => {
    const input = { orderId: { $cel: 'exception.orderId' }, item: 'coffee' };
    const { desk } = await ordered(context, { id: 'other', action: { kind: 'replace-input', path: 'order/two', input } as never });
    const first = await desk.request();
    await desk.answer(first, declined);
    const second = await desk.request();
    assert.partialDeepStrictEqual(second, { path: 'order/two', input: { item: 'coffee' } });
    assert.notEqual(second.idempotencyKey, first.idempotencyKey);
  });

  test('F-133: a compensation undoes the order, and it ends as compensated', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'undo', action: { kind: 'compensate' } });
    await desk.answer(await desk.request(), declined);
    const { processState, outcome } = await desk.state(orderId);
    assert.deepEqual([processState, outcome], ['Processed', 'compensated']);
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), { handling: { by: 'rule', id: 'undo', control: 'none' } });
  });

  test('a suspension by a rule opens a task of the kind rule, and the order goes on when a person resumes it', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'stop', action: { kind: 'suspend' }, executor: { group: 'claims' } });
    await desk.answer(await desk.request(), declined);
    const { suspended, processState } = await desk.state(orderId);
    assert.deepEqual([suspended, processState], [true, 'Processing']);
    assert.partialDeepStrictEqual(await taskIn(desk, orderId, 2), { kind: 'rule', state: 'open', group: 'claims' });
    const resume = { kind: 'resume', by: 'olga', reason: 'looked at' } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, resume, { id: 'i' }));
    assert.deepEqual(
      (await requested(desk)).map(({ path }) => path),
      ['order/two'],
    );
    assert.partialDeepStrictEqual(await taskIn(desk, orderId, 2), { state: 'resolved' });
  });

  test('timesPerOrder: a rule that has acted three times on the same fault acts no more, and a person decides', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'again', action: { kind: 'retry' } });
    for (let turn = 0; turn < 4; turn++) await desk.answer(await desk.request(), declined);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.class], ['Error', 'RuleStopped', 'basic-failure']);
    assert.match(`${fault?.message}`, /it has acted 3 times on Declined, and timesPerOrder is 3\.$/);
    assert.partialDeepStrictEqual(await taskIn(desk, orderId, 5), { kind: 'fault', state: 'open' });
  });
});

describe('an exception that its first rule does not handle', () => {
  test('F-133, F-144: a person is asked, and the task names the rules whose condition did not hold', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'coffee', condition: 'exception.attempt > 7.0' });
    await desk.answer(await desk.request(), declined);
    assert.equal((await desk.state(orderId)).processState, 'Error');
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), {
      kind: 'fault',
      candidates: [{ ruleId: 'coffee', version: 1, why: 'condition-false' }],
    });
  });

  test('a rule in dry-run changes nothing but the history, which says what it would have done', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'maybe', action: { kind: 'retry' }, mode: 'dry-run' });
    await desk.answer(await desk.request(), declined);
    assert.deepEqual(await requested(desk), []);
    assert.equal((await desk.state(orderId)).processState, 'Error');
    const would = (await journalOf(desk, orderId)).find(({ type }) => type === 'RuleWouldHave');
    assert.partialDeepStrictEqual(would, { ruleId: 'maybe', version: 1, action: { kind: 'retry' } });
  });

  test('F-141: a condition that throws is an exception of class basic-failure, and a person is asked', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'broken', condition: 'exception.message.matches("(")' });
    await desk.answer(await desk.request(), declined);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.class], ['Error', 'RuleFailed', 'basic-failure']);
  });

  test('a task that a rule opens is the task of the exception, with the group, the due time and the text of the rule', async (context) => {
    const action = { kind: 'task', group: 'claims', dueSeconds: 600, text: 'Call the customer' } as const;
    const { desk, orderId } = await ordered(context, { id: 'ask', action });
    await desk.answer(await desk.request(), declined);
    const dueAt = desk.clock.now() + 600_000;
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), { kind: 'fault', group: 'claims', dueAt, text: 'Call the customer' });
    const acted = (await journalOf(desk, orderId)).filter(({ type }) => type === 'RuleActed');
    assert.deepEqual(
      acted.map((entry) => 'ruleId' in entry && entry.ruleId),
      ['ask'],
      'F-159',
    );
  });

  test('F-142: when a rule raises another exception, the rule about that exception acts', async (context) => {
    const { desk, orderId } = await ordered(
      context,
      { id: 'rename', action: { kind: 'raise', type: 'NoMoney', message: 'The card has no money.' } },
      { id: 'undo', event: { kind: 'exception', type: 'NoMoney' }, action: { kind: 'compensate' } },
    );
    await desk.answer(await desk.request(), declined);
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId, 2), { type: 'NoMoney', causedBy: exceptionIdOf(orderId, 1) });
  });

  test('F-136: a rule announces, and the next rule acts', async (context) => {
    const { desk, orderId } = await ordered(
      context,
      { id: 'tell', priority: 5, action: { kind: 'announce', text: { $cel: '"declined: " + exception.step' } } as never },
      { id: 'again', action: { kind: 'retry' } },
    );
    await desk.answer(await desk.request(), declined);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    const told = desk.announced().find(({ detailType }) => detailType === 'Rule Announced');
    assert.partialDeepStrictEqual(told?.detail, { ruleId: 'tell', text: 'declined: order/two' });
  });
});

test('F-129: an order without exceptions has the same history with rules and without them', async (context) => {
  const histories: string[] = [];
  for (const rules of [[], [{ id: 'again' }]]) {
    const { desk, orderId } = await ordered(context, ...rules);
    for (let step = 0; step < 2; step++) await desk.answer(await desk.request(), ok());
    const history = JSON.stringify(await journalOf(desk, orderId)).replaceAll(orderId, 'ID');
    histories.push(history);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  }
  assert.equal(histories[0], histories[1]);
});
