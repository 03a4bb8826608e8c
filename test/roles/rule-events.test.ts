import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type App, assign, defineAgent, defineApp, defineWorkflow, operation, sequence, variable, waitFor } from 'redress';
import * as z from 'zod';
import { limits } from '#core/definition/definition';
import type { Rule } from '#core/rules/rule';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskOf } from '#roles/exceptions/read';
import { ruleCounts } from '#roles/rules/counts';
import { decodeInstance } from '#roles/scheduler/instance';
import { combined, rule } from '../support/rules.ts';
import { type Desk, failed, journalOf, lineOf, ok, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

type Given = Partial<Rule> & { readonly id: string };

const put = async (desk: Desk, ...rules: readonly Given[]) => {
  for (const each of rules) {
    const full = rule({ name: each.id, ...each });
    const draft = each.all || each.any ? combined(full) : full;
    await desk.system.rules.put(draft, { by: 'ada', reason: 'a test', expected: undefined });
  }
};

/** An order with three steps and these rules. Its first step is at work. */
async function ordered(context: TestContext, ...rules: readonly Given[]) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two', 'three')));
  await put(desk, ...rules);
  return { desk, orderId: await submitted(desk) };
}

/** An app whose order waits for papers between two steps. */
function waiting(): App {
  const worker = defineAgent('worker', {
    one: operation({ input: z.object({ item: z.string() }), output: z.object({ price: z.number() }), run: () => ({ price: 1 }) }),
    two: operation({ input: z.object({ item: z.string() }), output: z.unknown(), run: () => ({}) }),
  });
  const work = defineWorkflow('wait', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) => {
    const one = worker.one({ item: order.item });
    return sequence(
      one,
      assign(variable<number>('total'), one.output.price),
      waitFor('papers', z.object({})),
      worker.two({ item: order.item }),
    );
  });
  return defineApp({ workflows: [work], agents: [worker] });
}

const typesIn = async (desk: Desk, orderId: string) => (await journalOf(desk, orderId)).map(({ type }) => type);
const actedIn = async (desk: Desk, orderId: string) =>
  (await journalOf(desk, orderId)).flatMap((fact) => (fact.type === 'RuleActed' ? [`${fact.ruleId} ${fact.action.kind}`] : []));
const told = (desk: Desk) =>
  desk.announced().flatMap(({ detailType, detail }) => (detailType === 'Rule Announced' ? [detail['ruleId']] : []));
const tell = { kind: 'announce', text: 'look' } as const;
const passes = async (desk: Desk, ms: number) => {
  await desk.clock.advance(ms);
  await timePasses(desk.clock, desk.supervisor.pass());
  await desk.deliver('wake-ups');
};

describe('F-125: an event that is no exception', () => {
  test('order-state: rules are evaluated once for each state of the order', async (context) => {
    const of = (type: string) => ({ id: type.toLowerCase(), event: { kind: 'order-state', type }, action: tell }) as Given;
    const { desk } = await ordered(context, of('Pending'), of('Processing'), of('Processed'), of('Error'));
    for (let step = 0; step < 3; step++) await desk.answer(await desk.request());
    assert.deepEqual(told(desk), ['processing', 'processed']);
  });

  test('order-state: a rule that opens a task for an order in Error gives its group to the task that exists already', async (context) => {
    const action = { kind: 'task', group: 'claims' } as const;
    const { desk, orderId } = await ordered(context, { id: 'ask', event: { kind: 'order-state', type: 'Error' }, action });
    await desk.answer(await desk.request(), failed('Declined'));
    assert.partialDeepStrictEqual(await taskOf(taskIdOf(orderId, 1), desk.store), { kind: 'fault', group: 'claims' });
    assert.equal(await taskOf(taskIdOf(orderId, 2), desk.store), undefined);
  });

  test('step-state: rules are evaluated for each status of their own step, and for no other step', async (context) => {
    const of = (type: string) =>
      ({
        id: type.toLowerCase(),
        object: { workflow: 'line', step: 'order/two' },
        event: { kind: 'step-state', type },
        action: tell,
      }) as Given;
    const { desk } = await ordered(context, ...['Initialized', 'Executing', 'Faulting', 'Closed'].map(of));
    await desk.answer(await desk.request());
    assert.deepEqual(told(desk), ['initialized', 'executing']);
    await desk.answer(await desk.request());
    assert.deepEqual(told(desk), ['initialized', 'executing', 'closed']);
  });

  test('signal: a rule undoes the order that gets one', async (context) => {
    const desk = openDesk(context, waiting());
    await put(desk, { id: 'stop', event: { kind: 'signal', type: 'papers' }, action: { kind: 'compensate' } });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 7 }));
    await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: 's' });
    assert.deepEqual(await actedIn(desk, orderId), ['stop compensate']);
    assert.deepEqual(decodeInstance(await desk.state(orderId)).state.ending, { outcome: 'compensated' });
  });

  test('F-142: data: a constraint raises an exception when it becomes true after a write, and not again while it stays so', async (context) => {
    const desk = openDesk(context, waiting());
    const action = { kind: 'raise', type: 'TooDear', message: 'over the limit' } as const;
    const object = { workflow: 'wait' };
    await put(desk, { id: 'limit', object, event: { kind: 'data' }, condition: 'has(variables.total) && variables.total > 5.0', action });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 7 }));
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type], ['Error', 'TooDear']);
    const resubmit = { kind: 'resubmit', by: 'olga', reason: 'fine' } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, resubmit, { id: 'i' }));
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.deepEqual(await actedIn(desk, orderId), ['limit raise']);
  });

  test('F-142: a rule that raises its exception counts as having acted, and a rule that fails does not', async (context) => {
    const action = { kind: 'raise', type: 'TooDear', message: 'over the limit' } as const;
    const limit = { object: { workflow: 'wait' }, event: { kind: 'data' }, action } as const;
    for (const [condition, acted] of [
      ['order.item.size() == 3', 2],
      ['1 / (order.item.size() - 3) > 0', 0],
    ] as const) {
      const desk = openDesk(context, waiting());
      await put(desk, { id: 'limit', ...limit, condition });
      // The figures are added up every ten seconds.
      for (const key of ['one', 'two']) {
        await desk.clock.advance(10_000);
        await submitted(desk, { item: 'tea' }, { key });
      }
      assert.partialDeepStrictEqual((await ruleCounts(desk.store))('limit'), { hits: 2, acted });
    }
  });

  test('data: a condition that throws blocks the order', async (context) => {
    const desk = openDesk(context, waiting());
    await put(desk, {
      id: 'broken',
      object: { workflow: 'wait' },
      event: { kind: 'data' },
      condition: '1 / (order.item.size() - 3) > 0',
      action: tell,
    });
    const { processState, fault } = await desk.state(await submitted(desk));
    assert.deepEqual([processState, fault?.type], ['Error', 'RuleFailed']);
  });

  test('a rule in dry-run changes nothing but the history, once', async (context) => {
    const { desk, orderId } = await ordered(context, {
      id: 'maybe',
      event: { kind: 'step-state', type: 'Closed' },
      action: { kind: 'compensate' },
      mode: 'dry-run',
    });
    for (let step = 0; step < 3; step++) await desk.answer(await desk.request());
    assert.equal((await desk.state(orderId)).outcome, 'completed');
    assert.equal((await typesIn(desk, orderId)).filter((type) => type === 'RuleWouldHave').length, 1);
  });

  test('F-142: a rule that signals itself is stopped after three rounds', async (context) => {
    const desk = openDesk(context, waiting());
    const action = { kind: 'signal', name: 'papers', payload: {} } as const;
    await put(desk, { id: 'echo', event: { kind: 'signal' }, action, timesPerOrder: 100 });
    const orderId = await submitted(desk);
    await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: 's' });
    assert.deepEqual(await actedIn(desk, orderId), ['echo signal', 'echo signal', 'echo signal', 'echo raise']);
    assert.equal((await desk.state(orderId)).fault?.type, 'RuleStopped');
  });

  test('F-141: a rule whose signal the order cannot keep has failed, and a person is asked', async (context) => {
    const desk = openDesk(context, waiting());
    const orderId = await submitted(desk);
    const send = (id: number) => desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: `s${id}` });
    for (let id = 1; id < limits.signalsMax; id++) await send(id);
    const action = { kind: 'signal', name: 'papers', payload: {} } as const;
    await put(desk, { id: 'echo', event: { kind: 'signal' }, action });
    await desk.clock.advance(10_000);
    assert.equal((await send(limits.signalsMax)).outcome, 'done');
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type], ['Error', 'RuleFailed']);
    assert.match(
      fault?.message ?? '',
      /echo failed: it cannot send the signal "papers": the order keeps 100 signals already, which is the limit\.$/,
    );
    assert.deepEqual(await actedIn(desk, orderId), []);
    assert.match(JSON.stringify(await send(limits.signalsMax + 1)), /"too-large".*already keeps 100 signals/, 'its sender is told');
  });
});

describe('a time that a rule is about', () => {
  test('step-late: the rule requests the step again when it is late, before the supervisor gives it up', async (context) => {
    const { desk, orderId } = await ordered(context, { id: 'again', event: { kind: 'step-late' }, action: { kind: 'retry' } });
    const first = await desk.request();
    await passes(desk, 31_000);
    assert.deepEqual(await actedIn(desk, orderId), ['again retry']);
    const second = await desk.request();
    assert.deepEqual([second.attempt, second.idempotencyKey], [2, first.idempotencyKey]);
  });

  test('step-late: a rule acts 50 s after the step became late, although the step has passed later deadlines meanwhile', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one'), { maxFailures: 20 }));
    await put(desk, { id: 'late', event: { kind: 'step-late', afterSeconds: 50 }, action: tell });
    const orderId = await submitted(desk);
    for (let waited = 0; waited < 55; waited += 5) {
      assert.deepEqual(told(desk), [], `after ${waited} s`);
      await passes(desk, 5_000);
    }
    await passes(desk, 10_000);
    assert.deepEqual(told(desk), ['late']);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('step-late: a rule that has changed is evaluated again, and its announcement has an id of its own', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one'), { maxFailures: 20 }));
    const late = { id: 'late', event: { kind: 'step-late' }, action: tell } as const;
    await put(desk, late);
    await submitted(desk);
    await passes(desk, 31_000);
    await desk.system.rules.put(rule({ ...late, action: { kind: 'announce', text: 'look again' } }), {
      by: 'ada',
      reason: 'r',
      expected: 1,
    });
    await passes(desk, 31_000);
    const announced = desk.announced().filter(({ detailType }) => detailType === 'Rule Announced');
    assert.deepEqual(
      announced.map(({ detail }) => detail['text']),
      ['look', 'look again'],
    );
    assert.equal(new Set(announced.map(({ detail }) => detail['id'])).size, 2);
  });

  test('order-age: the rule undoes an order that waits without a deadline when it is too old', async (context) => {
    const action = { kind: 'compensate' } as const;
    const desk = openDesk(context, waiting());
    await put(desk, { id: 'old', event: { kind: 'order-age', afterSeconds: 3600 }, action });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 1 }));
    await passes(desk, 3_500_000);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    await passes(desk, 101_000);
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
  });

  test('order-age: a sweep wakes an order that was waiting before the rule existed, and wakes it once', async (context) => {
    const desk = openDesk(context, waiting());
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 1 }));
    await desk.clock.advance(7_200_000);
    await put(desk, { id: 'old', event: { kind: 'order-age', afterSeconds: 3600 }, action: tell });
    const sweep = async () => (await timePasses(desk.clock, desk.supervisor.sweep())).woken;
    assert.equal(await sweep(), 1);
    await desk.deliver('wake-ups');
    assert.deepEqual(told(desk), ['old']);
    await desk.clock.advance(3_600_000);
    assert.equal(await sweep(), 0);
    assert.equal(decodeInstance(await desk.state(orderId)).rules?.wakeAt, undefined);
  });

  test('order-age: an order in Error is undone when it is too old, and its task is resolved', async (context) => {
    const { desk, orderId } = await ordered(context, {
      id: 'old',
      event: { kind: 'order-age', afterSeconds: 600 },
      action: { kind: 'compensate' },
    });
    await desk.answer(await desk.request(), failed('Declined'));
    assert.equal((await desk.state(orderId)).processState, 'Error');
    await passes(desk, 601_000);
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
    assert.partialDeepStrictEqual(await taskOf(taskIdOf(orderId, 1), desk.store), { state: 'resolved' });
  });
});

describe('F-143: a rule about several events', () => {
  const all = [
    { kind: 'signal', type: 'papers' },
    { kind: 'step-state', type: 'Closed' },
  ] as const;

  test('fires at the event that completes the list within the time, and each event counts once', async (context) => {
    const desk = openDesk(context, waiting());
    await put(desk, { id: 'both', all, withinSeconds: 60, action: tell, object: { workflow: 'wait' } });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 1 }));
    assert.deepEqual(told(desk), []);
    await desk.clock.advance(50_000);
    await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: 's' });
    assert.deepEqual(told(desk), ['both']);
    await desk.answer(await desk.request());
    assert.deepEqual(told(desk), ['both']);
  });

  test('F-144: an exception that does not complete the list goes to a person, whose task names the missing event', async (context) => {
    const desk = openDesk(context, waiting());
    const list = [{ kind: 'exception' }, { kind: 'signal', type: 'papers' }] as const;
    await put(desk, { id: 'both', all: list, withinSeconds: 60, action: { kind: 'compensate' } });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Declined'));
    assert.partialDeepStrictEqual(await taskOf(taskIdOf(orderId, 1), desk.store), {
      candidates: [{ ruleId: 'both', why: 'incomplete', missing: [{ kind: 'signal', type: 'papers' }] }],
    });
  });

  test('does not fire when the events are further apart', async (context) => {
    const desk = openDesk(context, waiting());
    await put(desk, { id: 'both', all, withinSeconds: 60, action: tell });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), ok({ price: 1 }));
    await desk.clock.advance(61_000);
    await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: 's' });
    assert.deepEqual(told(desk), []);
  });

  test('forgets the oldest of more than 32 events, and the history says so', async (context) => {
    const desk = openDesk(context, waiting());
    await put(desk, { id: 'both', all, withinSeconds: 60, action: tell });
    const orderId = await submitted(desk);
    for (let index = 0; index < 34; index++)
      await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'papers', payload: {} }, { id: `s-${index}` });
    const forgotten = (await journalOf(desk, orderId)).filter(({ type }) => type === 'RuleEventForgotten');
    assert.equal(forgotten.length, 2);
    assert.equal(decodeInstance(await desk.state(orderId)).rules?.memory?.kept?.length, 32);
  });
});
