import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Rule } from '#core/rules/rule';
import { folded } from '#roles/repair/fold';
import { decodeInstance } from '#roles/scheduler/instance';
import { programFor } from '#roles/scheduler/load';
import { rule } from '../support/rules.ts';
import { type Desk, failed, journalOf, ok, openDesk, stepsIn, submitted, timePasses } from './support.ts';

/** An order whose second step has no undo: the goods leave the warehouse. */
const worker = defineAgent('worker', {
  reserve: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
  release: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
  ship: operation({ input: z.object({}), output: z.object({ parcel: z.string() }), run: () => ({ parcel: 'p' }) }),
  fetch: operation({ input: z.object({ parcel: z.string() }), output: z.object({}), run: () => ({}) }),
  tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
});
const send = defineWorkflow('send', { version: 1, order: z.object({ item: z.string(), total: z.number() }) }, () =>
  sequence(
    worker.reserve({}).undo(() => worker.release({})),
    worker.ship({}).noUndo(),
    worker.tell({}).noUndo(),
  ),
);
const app = defineApp({ workflows: [send], agents: [worker] });

const fetchBack = rule({
  id: 'fetch-back',
  object: { workflow: 'send', step: 'order/ship' },
  event: { kind: 'step-state', type: 'Compensating' },
  condition: 'order.total > 100.0',
  action: { kind: 'compensate-with', agent: 'worker', operation: 'fetch', input: { parcel: { $cel: 'outputs.ship.parcel' } } },
});

const put = (desk: Desk, given: Rule, expected?: number) => desk.system.rules.put(given, { by: 'ada', reason: 'a test', expected });
const nextOperation = async (desk: Desk) => (await desk.requests()).map(({ operation, input }) => [operation, input]);

/** An order that has shipped its goods, while its rules are as given. */
async function shipped(context: TestContext, given: Rule | undefined, total = 200) {
  const desk = openDesk(context, app);
  if (given) await put(desk, given);
  const orderId = await submitted(desk, { item: 'tea', total });
  await desk.answer(await desk.request());
  await desk.answer(await desk.request(), ok({ parcel: 'p-7' }));
  const compensate = async () => {
    await desk.answer(await desk.request(), failed('Broken'));
    const decision = { kind: 'compensate', by: 'olga', reason: 'r' } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: 'c' }));
  };
  return { desk, orderId, compensate };
}
const actedIn = async (desk: Desk, orderId: string) =>
  (await journalOf(desk, orderId)).flatMap((fact) => (fact.type === 'RuleActed' ? [[fact.ruleId, fact.action]] : []));

describe('F-104: a rule ties a compensation to a step that has no undo', () => {
  test('the undo of the rule is requested at its place, with the output of the step, and the order ends as compensated', async (context) => {
    const { desk, orderId, compensate } = await shipped(context, fetchBack);
    await compensate();
    const request = await desk.request();
    assert.deepEqual([request.operation, request.path, request.input], ['fetch', 'order/ship/undo', { parcel: 'p-7' }]);
    await desk.answer(request);
    const next = await desk.request();
    assert.equal(next.operation, 'release');
    await desk.answer(next);
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
    const action = { kind: 'compensate-with', agent: 'worker', operation: 'fetch', input: { parcel: 'p-7' } };
    assert.deepEqual(await actedIn(desk, orderId), [['fetch-back', action]]);
  });

  test('an undo that a rule gave stays among the steps of the order when the rule no longer fits and the order is written again', async (context) => {
    const { desk, orderId, compensate } = await shipped(context, fetchBack);
    await compensate();
    await desk.answer(await desk.request());
    await put(desk, { ...fetchBack, mode: 'off' }, 1);
    await desk.answer(await desk.request());
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
    const steps = (await stepsIn(desk, orderId)).map(({ path, name, result }) => [path, name, result]);
    assert.deepEqual(steps.slice(2, 4), [
      ['order/ship', 'ship', 'Compensated'],
      ['order/ship/undo', 'undo of ship', 'Compensated'],
    ]);
  });

  test('a false condition, a rule in dry-run or no rule leaves the step without an undo', async (context) => {
    for (const [given, total] of [
      [fetchBack, 100],
      [{ ...fetchBack, mode: 'dry-run' }, 200],
      [undefined, 200],
    ] as const) {
      const { desk, compensate } = await shipped(context, given, total);
      await compensate();
      assert.deepEqual(await nextOperation(desk), [['release', {}]]);
    }
  });

  test('a rule in dry-run notes in the history what it would have undone, when the order is undone', async (context) => {
    const { desk, orderId, compensate } = await shipped(context, { ...fetchBack, mode: 'dry-run' });
    const wouldHave = async () => (await journalOf(desk, orderId)).flatMap((fact) => (fact.type === 'RuleWouldHave' ? [fact.action] : []));
    assert.deepEqual(await wouldHave(), []);
    await compensate();
    assert.deepEqual(await wouldHave(), [{ kind: 'compensate-with', agent: 'worker', operation: 'fetch', input: { parcel: 'p-7' } }]);
  });

  test('an undo whose condition throws waits for a person', async (context) => {
    const { desk, orderId, compensate } = await shipped(context, { ...fetchBack, condition: '1 / (order.item.size() - 3) > 0' });
    await compensate();
    assert.deepEqual(await nextOperation(desk), []);
    const stuck = (await journalOf(desk, orderId)).find((fact) => fact.type === 'UndoFailed');
    assert.partialDeepStrictEqual(stuck, { stuck: true, fault: { type: 'Engine/RuleFailed', permanent: true } });
  });

  test('a rule that does not fit the version of the workflow is skipped, and announced once', async (context) => {
    const { desk, compensate } = await shipped(context, { ...fetchBack, condition: 'order.price > 1.0' });
    await compensate();
    assert.deepEqual(await nextOperation(desk), [['release', {}]]);
    assert.equal(desk.announced().filter(({ detailType }) => detailType === 'Rule Stale').length, 1);
  });

  test('an undo that fails is requested again under its key, also by a process that has just started', async (context) => {
    const { desk, compensate } = await shipped(context, fetchBack);
    await compensate();
    const first = await desk.request();
    await desk.answer(first, failed('Away', 'not now', { permanent: false }));
    await desk.clock.advance(10_000);
    await timePasses(desk.clock, desk.supervisor.pass());
    await desk.deliver('wake-ups');
    const second = await desk.request();
    assert.deepEqual([second.operation, second.idempotencyKey, second.attempt], ['fetch', first.idempotencyKey, 2]);
  });

  test('the undo of a step that has closed stays as it was when the rule changes; a step that closes later gets the new one', async (context) => {
    const { desk, compensate } = await shipped(context, fetchBack);
    await put(desk, { ...fetchBack, mode: 'off' }, 1);
    await desk.clock.advance(6_000);
    await compensate();
    assert.deepEqual(await nextOperation(desk), [['fetch', { parcel: 'p-7' }]]);
  });

  test('a step whose outcome is unknown is confirmed first, and undone by the rule if it was done', async (context) => {
    const desk = openDesk(context, app);
    await put(desk, fetchBack);
    const orderId = await submitted(desk, { item: 'tea', total: 200 });
    await desk.answer(await desk.request());
    const request = await desk.request();
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'olga', reason: 'r' }, { id: 'c' }));
    await desk.take('worker-requests');
    await desk.answer(request, ok({ parcel: 'p-8' }));
    assert.deepEqual(await nextOperation(desk), [['fetch', { parcel: 'p-8' }]]);
  });

  test('F-160: the state is rebuilt from the journal, without the rules', async (context) => {
    const { desk, orderId, compensate } = await shipped(context, fetchBack);
    await compensate();
    const found = await desk.store.load(orderId);
    assert.ok(found);
    const program = programFor(orderId, found.state, desk.system.definitions);
    const instance = decodeInstance(found.state);
    const pages = await desk.store.pages(orderId);
    const lines = [...pages.flat(), ...instance.tail] as unknown as typeof instance.tail;
    const result = folded({ program, order: found.order, record: found.state }, lines);
    assert.ok(result.ok, result.ok ? '' : result.reason);
    assert.deepEqual(JSON.parse(JSON.stringify(result.instance.state)), instance.state);
  });

  test('F-129: an order without trouble has the same requests with the rule and without it', async (context) => {
    const facts = async (given: Rule | undefined) => {
      const { desk, orderId } = await shipped(context, given);
      await desk.answer(await desk.request());
      assert.equal((await desk.state(orderId)).outcome, 'completed');
      return (await journalOf(desk, orderId)).map(({ type }) => type);
    };
    assert.deepEqual(await facts(fetchBack), await facts(undefined));
  });
});
