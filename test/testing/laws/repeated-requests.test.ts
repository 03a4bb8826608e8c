import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { repeatedRequests } from '#testing/laws/repeated-requests';
import { journalOf, submitted } from '../../roles/support.ts';
import { rule } from '../../support/rules.ts';
import { judgedBy, observedDesk } from './observed-desk.ts';

const write = operation({ input: z.object({}), output: z.unknown(), writes: ['lot/one'], run: () => ({}) });
const worker = defineAgent('worker', { left: write, right: write });
const app = defineApp({
  workflows: [
    defineWorkflow('two', { version: 1, order: z.unknown() }, () => parallel(sequence(worker.left({})), sequence(worker.right({})))),
  ],
  agents: [worker],
});

/** An order whose two steps write one object at the same time. A rule retries one of them in the write that requests both. */
async function retried(context: TestContext) {
  const observed = observedDesk(context, app, repeatedRequests());
  const { desk } = observed;
  const again = rule({ id: 'again', event: { kind: 'exception', type: 'WritersConflict' }, action: { kind: 'retry' } });
  await desk.system.rules.put(again, { by: 'ada', reason: 'a test', expected: undefined });
  const orderId = await submitted(desk);
  const types = (await journalOf(desk, orderId)).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === 'StepRequested' || type === 'RuleActed'),
    ['StepRequested', 'StepRequested', 'RuleActed', 'StepRequested'],
  );
  return observed;
}

describe('the law of repeated requests', () => {
  test('F-52: a step that a rule retries in the write of its first request keeps the law', async (context) => {
    const { found } = await retried(context);
    assert.deepEqual(found, []);
  });

  test('F-52: a step that is requested twice in one write, without the action of a rule, breaks the law', async (context) => {
    const { desk, writes } = await retried(context);
    const silent = writes.map((each) => ({ ...each, after: { ...each.after, blob: withoutAction(each.after.blob) } }));
    assert.match(
      String(judgedBy(repeatedRequests(), silent, desk.system.definitions)),
      /step order\/\S+ was requested again without a reason/,
    );
  });
});

function withoutAction(blob: string): string {
  const instance = JSON.parse(blob) as { readonly tail: readonly { readonly type: string }[] };
  return JSON.stringify({ ...instance, tail: instance.tail.filter(({ type }) => type !== 'RuleActed') });
}
