import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { type RunningSystem, runningSystem } from './support.ts';

const NoStamp = fault('NoStamp');
const Letter = z.object({ item: z.string(), card: z.string() });
const post = defineAgent('post', {
  stamp: operation({ input: Letter, output: z.object({}), faults: [NoStamp], run: (_, call) => call.failed(NoStamp, 'No stamps.') }),
  send: operation({ input: Letter, output: z.object({}), run: () => ({}) }),
});
const letter = defineWorkflow('fulfil-order', { version: 1, order: Letter, toOperator: [NoStamp] }, ({ order }) =>
  sequence(post.stamp(order).noUndo(), post.send(order).noUndo()),
);

let system: RunningSystem;
before(async () => {
  system = await runningSystem(defineApp({ workflows: [letter], agents: [post] }));
});
after(() => system.stop());

test('F-161: an operator reviews a workflow: what people did, the proposal, and how many orders would have needed no person', async () => {
  const none = await system.redress(['workflow', 'review', 'fulfil-order']);
  assert.match(none.err, /fulfil-order has had no exceptions in the last 30 days\./);
  for (let index = 0; index < 5; index++) {
    const id = await system.order('c');
    const skip = ['order', 'skip', id, '--data', '{}', '--reason', 'paid in cash', '--yes'];
    const { exitCode, err } = await system.redress(skip);
    assert.equal(exitCode, 0, err);
    await system.redress(['order', 'watch', id]);
  }
  const { out, err } = await system.redress(['workflow', 'review', 'fulfil-order']);
  assert.match(out, /order\/stamp +NoStamp +5 +0 +skip, 5 of 5 passed +handler/, err);
  assert.match(out, /NoStamp at order\/stamp: a handler, drawn from skip, 5 of 5 passed\./);
  assert.match(out, /scope\('stamp-if-possible', stamp\)/);
  assert.match(out, /^ {2}\+ .*"activity": "scope"/m);
  assert.match(out, /5 of 5 replayed orders would have needed no person\./);
  const { json } = await system.redress(['workflow', 'review', 'fulfil-order', '--json']);
  assert.deepEqual(json.items[0].replay, { checked: 5, fit: 5, assumed: 0 });
  const wrong = await system.redress(['workflow', 'review', 'nothing']);
  assert.notEqual(wrong.exitCode, 0);
});
