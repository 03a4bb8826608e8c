import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Rule } from '#core/rules/rule';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import type { Given, Report } from '#roles/operator/instruction';
import { rule } from '../support/rules.ts';
import { type Desk, failed, journalOf, lineOf, ok, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

/** An order with three steps and these rules. Its second step is at work. */
async function ordered(context: TestContext, ...rules: readonly (Partial<Rule> & { readonly id: string })[]) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two', 'three')));
  for (const each of rules)
    await desk.system.rules.put(rule({ event: { kind: 'exception', type: 'Broken' }, name: each.id, ...each }), {
      by: 'ada',
      reason: 'a test',
      expected: undefined,
    });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request());
  return { desk, orderId };
}

let calls = 0;
const give = (desk: Desk, orderId: string, given: Given) =>
  timePasses(desk.clock, desk.system.scheduler.instruct(orderId, given, { id: `call-${++calls}` }));
const report = (desk: Desk, orderId: string, more: Partial<Report> = {}) =>
  give(desk, orderId, { kind: 'report', by: 'olga', type: 'Broken', message: 'It broke', ...more });
const person = { by: 'olga', reason: 'a test' };
const exceptionIn = (desk: Desk, orderId: string, seq = 1) => exceptionOf(exceptionIdOf(orderId, seq), desk.store);
const taskIn = (desk: Desk, orderId: string, seq = 1) => taskOf(taskIdOf(orderId, seq), desk.store);
const requested = async (desk: Desk) => (await desk.requests()).map(({ path, attempt }) => `${path} ${attempt}`);
const standing = async (desk: Desk, orderId: string) => {
  const { processState, suspended, fault, outcome } = await desk.state(orderId);
  return { processState, suspended, fault: fault?.type, outcome };
};

describe('an exception from outside', () => {
  test('F-164: without a rule it blocks the order; after a resubmission the reply to the step at work still counts', async (context) => {
    const { desk, orderId } = await ordered(context);
    const atWork = await desk.request();
    assert.partialDeepStrictEqual(await report(desk, orderId, { path: 'order/two' }), { outcome: 'done', exception: 1 });
    assert.deepEqual(await standing(desk, orderId), { processState: 'Error', suspended: false, fault: 'Broken', outcome: null });
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), {
      type: 'Broken',
      class: 'unexpected',
      tags: ['user', 'semantic'],
      path: 'order/two',
      before: { processState: 'Processing', status: 'Executing' },
      after: { processState: 'Error', status: 'Executing' },
      handling: null,
    });
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), { kind: 'fault', state: 'open', fault: { type: 'Broken' } });
    const detected = (await journalOf(desk, orderId)).find(({ type }) => type === 'ExceptionDetected');
    assert.partialDeepStrictEqual(detected ?? {}, { exceptionId: exceptionIdOf(orderId, 1), by: 'olga' });

    await give(desk, orderId, { kind: 'resubmit', ...person });
    assert.deepEqual(await requested(desk), []);
    await desk.answer(atWork, ok());
    assert.deepEqual(await requested(desk), ['order/three 1']);
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), { handling: { by: 'person', id: 'olga', control: 'ready' } });
  });

  test('F-164, F-139: a rule requests the step at work again, under its key, and no task is opened', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'again', action: { kind: 'retry' } });
    const first = await desk.request();
    await report(desk, orderId, { path: 'order/two' });
    const second = await desk.request();
    assert.deepEqual([second.path, second.attempt, second.idempotencyKey], ['order/two', 2, first.idempotencyKey]);
    assert.deepEqual(await standing(desk, orderId), { processState: 'Processing', suspended: false, fault: undefined, outcome: null });
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), { handling: { by: 'rule', id: 'again', control: 'ready' } });
    assert.equal(await taskIn(desk, orderId), undefined);
  });

  test('F-138: about a step that has not begun: a rule skips that step, and the order completes without it', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'leave-out', action: { kind: 'skip', output: {} } });
    const atWork = await desk.request();
    await report(desk, orderId, { path: 'order/three' });
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), {
      before: { status: null },
      handling: { by: 'rule', control: 'resumed' },
    });
    await desk.answer(atWork, ok());
    assert.equal((await desk.state(orderId)).outcome, 'completed');
    assert.deepEqual(await requested(desk), []);
  });

  test('F-164: about the whole order: a rule undoes the order', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'undo', action: { kind: 'compensate' } });
    const atWork = await desk.request();
    await report(desk, orderId);
    assert.partialDeepStrictEqual(await desk.take('worker-requests'), [{ type: 'cancel', path: 'order/two' }]);
    await desk.answer(atWork, failed('Declined'));
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), { path: null, handling: { by: 'rule', id: 'undo', control: 'none' } });
  });

  test('F-164: on an order in Error it is recorded with the open task, changes nothing else, and is handled with that task', async (context) => {
    const { desk, orderId } = await ordered(context);
    await desk.answer(await desk.request(), failed('Declined', 'no money'));
    const before = await standing(desk, orderId);
    await report(desk, orderId);
    assert.deepEqual(await standing(desk, orderId), before);
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId, 2), { type: 'Broken', handling: null, taskId: taskIdOf(orderId, 1) });
    assert.equal(await taskIn(desk, orderId, 2), undefined);
    assert.equal(desk.announcedCauses().filter(({ detailType }) => detailType === 'Exception Raised').length, 2);

    await give(desk, orderId, { kind: 'acknowledge', ...person });
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId, 2), { handling: null });
    await give(desk, orderId, { kind: 'resubmit', ...person });
    for (const seq of [1, 2])
      assert.partialDeepStrictEqual(await exceptionIn(desk, orderId, seq), { handling: { by: 'person', id: 'olga' } });
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), { state: 'resolved' });
  });

  test('F-164: on a suspended order it opens a task of its own, which is resolved when the order goes on', async (context) => {
    const { desk, orderId } = await ordered(context);
    await give(desk, orderId, { kind: 'suspend', ...person });
    await report(desk, orderId);
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), { kind: 'fault', state: 'open' });
    assert.deepEqual(await standing(desk, orderId), { processState: 'Processing', suspended: true, fault: undefined, outcome: null });
    await give(desk, orderId, { kind: 'resume', ...person });
    assert.partialDeepStrictEqual(await taskIn(desk, orderId), { state: 'resolved' });
  });

  test('F-164: on an order that is being undone it is recorded for a person, no rule acts, and the undo goes on', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'again', action: { kind: 'retry' } });
    const atWork = await desk.request();
    await give(desk, orderId, { kind: 'cancel', ...person });
    assert.equal((await requested(desk)).length, 1, 'the step at work is canceled');
    const before = await standing(desk, orderId);
    await report(desk, orderId);
    assert.deepEqual([await standing(desk, orderId), await requested(desk)], [before, []]);
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), { type: 'Broken', handling: null });
    await desk.answer(atWork, ok());
    assert.partialDeepStrictEqual(await standing(desk, orderId), { processState: 'Processed', outcome: 'canceled' });
  });

  test('F-164: about an order that has not begun: the order begins only after a person has resubmitted it', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')), { variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(desk);
    assert.equal((await desk.state(orderId)).processState, 'Pending');
    await report(desk, orderId, { path: 'order/one' });
    assert.partialDeepStrictEqual(await standing(desk, orderId), { processState: 'Error', fault: 'Broken' });
    assert.deepEqual(await requested(desk), []);
    assert.partialDeepStrictEqual(await exceptionIn(desk, orderId), {
      path: 'order/one',
      before: { processState: 'Pending', status: null },
    });
    await give(desk, orderId, { kind: 'resubmit', ...person });
    assert.deepEqual(await requested(desk), ['order/one 1']);
  });

  test('F-125, F-34: an order that is in Error before it begins is not suspended by a rule, and sends its alert when the event bus is back', async (context) => {
    let away = true;
    const desk = openDesk(context, lineOf(stepsNamed('one')), {
      variables: { CLAIM_ON_SUBMIT: 'off' },
      writesAndSendsAtomically: false,
      around: ({ publisher }) => ({
        publisher: { publish: (all) => (away ? Promise.reject(new Error('away')) : publisher.publish(all)) },
      }),
    });
    const event = { kind: 'order-age', afterSeconds: 5 } as const;
    await desk.system.rules.put(rule({ id: 'hold', event, action: { kind: 'suspend' } }), { ...person, expected: undefined });
    await desk.system.rules.put(rule({ id: 'tell', event: { ...event, afterSeconds: 20 }, action: { kind: 'announce', text: 'look' } }), {
      ...person,
      expected: undefined,
    });
    const orderId = await submitted(desk);
    await report(desk, orderId);
    await desk.clock.advance(11_000);
    await desk.supervisor.pass();
    await timePasses(desk.clock, desk.deliver('wake-ups'));
    assert.partialDeepStrictEqual(await standing(desk, orderId), { processState: 'Error', suspended: false });
    away = false;
    await desk.clock.advance(60_000);
    assert.equal((await desk.supervisor.pass()).woken, 1);
    await desk.deliver('wake-ups');
    assert.ok(desk.announced().some(({ detailType }) => detailType === 'Order In Error'));
    assert.match(String((await taskIn(desk, orderId, 2))?.text), /would suspend the order, but the order is in Error/);
  });

  test('F-164: a finished order refuses it, and so does an order with five exceptions that nobody has handled', async (context) => {
    const { desk, orderId } = await ordered(context);
    for (let turn = 0; turn < 6; turn++) assert.equal((await report(desk, orderId)).outcome, 'done');
    const sixth = await report(desk, orderId);
    assert.partialDeepStrictEqual(sixth, { outcome: 'infeasible', refusals: [{ code: 'too-large' }] });
    await give(desk, orderId, { kind: 'terminate', ...person });
    assert.partialDeepStrictEqual(await report(desk, orderId), { outcome: 'infeasible', refusals: [{ code: 'finished' }] });
  });
});
