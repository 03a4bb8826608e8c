import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compute, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';

const order = z.object({ endless: z.boolean() });
const count = compute('count', { version: 1, input: order, output: z.object({ n: z.int() }) }, ({ endless }) => {
  while (endless);
  return { n: 1 };
});
const desk = defineAgent('desk', { book: operation({ input: z.object({ n: z.int() }), output: z.object({}), run: () => ({}) }) });
const counted = defineWorkflow('counted', { version: 1, order }, ({ order }) => {
  const counting = count({ endless: order.endless });
  return sequence(counting, desk.book({ n: counting.output.n }).noUndo());
});

test('a compute function that never returns is stopped and named, and other orders continue', async (t) => {
  const system = await startSystem(defineApp({ workflows: [counted], agents: [desk] }));
  t.after(() => system.stop());
  const submitted = async (endless: boolean) => {
    const accepted = await system.submit({ endless });
    return accepted.outcome === 'accepted' ? accepted.order.orderId : assert.fail(accepted.outcome);
  };

  const [stopped, completed] = [await submitted(true), await submitted(false)];
  await system.passTime(1_000);

  const { fault } = await system.state(stopped);
  assert.equal(fault?.type, 'ComputeFailed');
  assert.match(fault.message ?? '', /^count@1: The function ran for more than 1,000 ms and was stopped\. Look for an endless loop/);
  assert.equal((await system.state(completed)).outcome, 'completed');
});
