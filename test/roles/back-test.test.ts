import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Rule } from '#core/rules/rule';
import type { Instruction } from '#roles/operator/instruction';
import { backTest } from '#roles/rules/back-test';
import { combined, rule } from '../support/rules.ts';
import { type Desk, failed, ok, openDesk, submitted, timePasses } from './support.ts';

const Refused = fault('Refused');
const Declined = fault('Declined', Refused);
const worker = defineAgent('worker', {
  reserve: operation({ input: z.object({}), output: z.object({ price: z.number() }), run: () => ({ price: 1 }) }),
  charge: operation({ input: z.object({}), output: z.object({}), faults: [Declined], run: () => ({}) }),
});
const buy = defineWorkflow('buy', { version: 1, order: z.object({ item: z.string() }), toOperator: [Declined] }, () =>
  sequence(worker.reserve({}).noUndo(), worker.charge({}).noUndo()),
);
const app = defineApp({ workflows: [buy], agents: [worker] });

const again = rule({ action: { kind: 'retry' } });
let orders = 0;

/** An order whose stock has a price and whose charge was declined, and what a person then decides. */
async function declined(desk: Desk, price = 1, ...decisions: readonly object[]): Promise<string> {
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), ok({ price }));
  await desk.answer(await desk.request(), failed('Declined'));
  for (const given of decisions) {
    const decision = { by: 'olga', reason: 'r', ...given } as Instruction;
    const { outcome } = await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: `i-${++orders}` }));
    assert.equal(outcome, 'done');
  }
  return orderId;
}

const examine = (desk: Desk, tested: Rule, limit = 100, after?: string) => {
  const now = desk.clock.now();
  return backTest(tested, { since: now - 86_400_000, now, after, limit }, { store: desk.store, definitions: desk.system.definitions });
};
const opened = (context: TestContext) => openDesk(context, app);

test('a back-test compares a rule with the decisions of people: the outcome counts as the same if a person did an action of the same kind, and it has passed', async (context) => {
  const desk = opened(context);
  await declined(desk, 1, { kind: 'resubmit' });
  await desk.answer(await desk.request());
  await declined(desk, 1, { kind: 'resubmit' });
  await desk.answer(await desk.request(), failed('Declined'));
  await declined(desk, 1, { kind: 'compensate' });
  const { items, ...figures } = await examine(desk, again);
  assert.deepEqual(figures, { examined: 4, matched: 4, sameOutcome: 1, differs: 3 });
  assert.deepEqual(
    items
      .map(({ whatHappened }) => (whatHappened ? `${whatHappened.by} ${whatHappened.kind} ${whatHappened.verified}` : 'open'))
      .toSorted(),
    ['open', 'person compensate passed', 'person resubmit failed-again', 'person resubmit passed'],
  );
});

test('a back-test compares a rule with the actions of other rules, and takes their verdicts from the history', async (context) => {
  const desk = opened(context);
  await desk.system.rules.put({ ...again, id: 'first' }, { by: 'ada', reason: 'r', expected: undefined });
  await declined(desk);
  await desk.answer(await desk.request());
  const { items, sameOutcome } = await examine(desk, again);
  const { at: _, ...happened } = items[0]?.whatHappened ?? { at: 0 };
  assert.deepEqual([sameOutcome, happened], [1, { by: 'rule', id: 'first', kind: 'retry', verified: 'passed' }]);
});

test('a back-test evaluates a condition with the outputs at the time of the exception, and matches a fault by its ancestors', async (context) => {
  const desk = opened(context);
  await declined(desk, 5);
  await declined(desk, 50);
  const object = { workflow: 'buy', step: 'order/charge', agent: 'worker' };
  const dear = rule({
    object,
    event: { kind: 'exception', type: 'Refused' },
    condition: 'outputs.reserve.price > 10.0 && !has(outputs.charge)',
  });
  const { matched, items } = await examine(desk, dear);
  assert.deepEqual([matched, items.map(({ wouldHave }) => wouldHave)], [1, [{ kind: 'compensate' }]]);
  const other = rule({ event: { kind: 'exception', type: 'OutOfStock' } });
  assert.deepEqual(await examine(desk, other), { examined: 2, matched: 0, sameOutcome: 0, differs: 0, items: [] });
});

test('F-143: a back-test of a rule about several exceptions includes the earlier exceptions of the same order', async (context) => {
  const desk = opened(context);
  await declined(desk);
  await declined(desk, 1, { kind: 'resubmit' });
  await desk.answer(await desk.request(), failed('Declined'));
  const event = { kind: 'exception', type: 'Declined' } as const;
  const twice = combined(rule({ all: [event, event], withinSeconds: 60 }));
  const { examined, matched } = await examine(desk, twice);
  assert.deepEqual([examined, matched], [3, 1]);
});

test('the answer of a back-test comes in pages, and a back-test changes nothing', async (context) => {
  const desk = opened(context);
  for (let index = 0; index < 3; index++) await declined(desk);
  const before = desk.database.prepare('SELECT count(*) AS n, sum(rev) AS revs FROM documents').get();
  const first = await examine(desk, again, 2);
  assert.deepEqual([first.examined, first.next === undefined], [2, false]);
  const second = await examine(desk, again, 2, first.next);
  assert.deepEqual([second.examined, second.matched, second.next], [1, 1, undefined]);
  assert.deepEqual(desk.database.prepare('SELECT count(*) AS n, sum(rev) AS revs FROM documents').get(), before);
});
