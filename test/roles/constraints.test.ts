import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { askOperator, assign, defineAgent, defineApp, defineWorkflow, operation, sequence, variables } from 'redress';
import * as z from 'zod';
import type { Rule } from '#core/rules/rule';
import type { Given } from '#roles/operator/instruction';
import { rule } from '../support/rules.ts';
import { failed, journalOf, openDesk, submitted, timePasses } from './support.ts';

const vars = variables<{ total: number }>();
const worker = defineAgent('worker', { pay: operation({ input: z.object({ total: z.number() }), output: z.unknown(), run: () => ({}) }) });
const claim = defineWorkflow('claim', { version: 1, order: z.object({ item: z.string() }) }, () => {
  const assess = askOperator('assess', { question: 'What is it worth?', answer: z.object({ total: z.number() }) });
  return sequence(assess, assign(vars.total, assess.output.total), worker.pay({ total: vars.total }).noUndo());
});
const app = defineApp({ workflows: [claim], agents: [worker] });
const limit = {
  id: 'limit',
  name: 'At most 100',
  object: { workflow: 'claim' },
  event: { kind: 'data' },
  condition: 'has(variables.total) && variables.total > 100.0',
  action: { kind: 'raise', type: 'OverLimit', message: 'too much' },
} as const;

/** An order that waits for an assessment, under a constraint. */
async function assessed(context: TestContext, more: Partial<Rule> = {}) {
  const desk = openDesk(context, app);
  await desk.system.rules.put(rule({ ...limit, ...more }), { by: 'ada', reason: 'a test', expected: undefined });
  const orderId = await submitted(desk);
  const give = (given: Given, dryRun = false) =>
    timePasses(desk.clock, desk.system.scheduler.instruct(orderId, given, { id: `${given.kind}`, dryRun }));
  const answer = (total: number): Given => ({ kind: 'resubmit', by: 'olga', reason: 'seen', answer: { total } });
  return { desk, orderId, give, answer };
}

describe('an instruction that violates a constraint', () => {
  test('F-178, F-142: is refused with the id of the rule, also in a dry run, and changes nothing', async (context) => {
    const { desk, orderId, give, answer } = await assessed(context);
    const { rev } = await desk.state(orderId);
    const refused = await give(answer(101));
    assert.partialDeepStrictEqual(refused, { outcome: 'infeasible', refusals: [{ code: 'constraint' }] });
    assert.match(JSON.stringify(refused), /The rule limit forbids this: At most 100\./);
    assert.partialDeepStrictEqual(await give(answer(101), true), {
      outcome: 'planned',
      check: { feasible: false, refusals: [{ code: 'constraint' }] },
    });
    assert.deepEqual(
      [(await desk.state(orderId)).rev, (await journalOf(desk, orderId)).some(({ type }) => type === 'InstructionGiven')],
      [rev, false],
    );
    assert.equal((await give(answer(100))).outcome, 'done');
  });

  test('F-178: is refused if it changes a variable, but a person may still end the order', async (context) => {
    const { give } = await assessed(context);
    const amend = { kind: 'amend', by: 'olga', reason: 'more', variables: { total: 500 } } as const;
    assert.partialDeepStrictEqual(await give(amend), { outcome: 'infeasible', refusals: [{ code: 'constraint' }] });
    assert.equal((await give({ kind: 'terminate', by: 'olga', reason: 'over' })).outcome, 'done');
  });

  test('F-142: is not refused by a rule that is not in force, or that only announces', async (context) => {
    for (const more of [{ mode: 'dry-run' }, { action: { kind: 'announce', text: 'much' } }] as const) {
      const { give, answer } = await assessed(context, more);
      assert.equal((await give(answer(101))).outcome, 'done');
    }
  });

  test('F-142, F-178: is refused if it replaces the input of a step that the constraint reads', async (context) => {
    const { desk, orderId, give, answer } = await assessed(context, {
      object: { workflow: 'claim', step: 'order/pay' },
      condition: 'step.input != null && step.input.total > 100.0',
    });
    const replace = { kind: 'replace-input', by: 'olga', reason: 'typo', path: 'order/pay' } as const;
    const isRefused = async (total: number) =>
      assert.partialDeepStrictEqual(await give({ ...replace, input: { total } }), { refusals: [{ code: 'constraint' }] });
    await isRefused(101);
    assert.equal((await give(answer(50))).outcome, 'done');
    await desk.answer(await desk.request(), failed('Closed'));
    await isRefused(102);
    assert.equal((await desk.state(orderId)).processState, 'Error');
    assert.equal((await give({ ...replace, input: { total: 90 } })).outcome, 'done');
  });
});
