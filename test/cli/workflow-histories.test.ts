import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { type RunningSystem, runningSystem } from './support.ts';

const Letter = z.object({ item: z.string(), card: z.string() });
const step = operation({ input: Letter, output: Letter, run: (letter) => letter });
const post = defineAgent('post', { write: step, send: step });
/** Version 1 writes and sends the letter in parallel, and version 2 one after the other. */
const versions = [1, 2].map((version) =>
  defineWorkflow('fulfil-order', { version, order: Letter }, ({ order }) => {
    const [write, send] = [post.write(order).noUndo(), post.send(order).noUndo()];
    return sequence((version === 1 ? parallel(write, send) : sequence(write, send)).named('both'));
  }),
);

let system: RunningSystem;
before(async () => {
  system = await runningSystem(defineApp({ workflows: versions, agents: [post] }));
});
after(() => system.stop());

test('an operator sees which stored orders could not have run under another version, and why', async () => {
  const orderId = await system.order('c');
  const { json } = await system.redress(['workflow', 'histories', 'fulfil-order@1', '--json']);
  assert.deepEqual([json.checked, json.fit], [1, 0]);
  assert.equal(json.unfit[0].orderId, orderId);
  const { out, err } = await system.redress(['workflow', 'histories', 'fulfil-order@1']);
  assert.match(out, /Version 1 does not lead to what the order has done/);
  assert.match(err, /0 of 1 orders of other versions fit fulfil-order@1\./);
  assert.match((await system.redress(['workflow', 'histories', 'fulfil-order@2'])).err, /0 of 0 orders/);
  assert.match((await system.redress(['workflow', 'histories', 'fulfil-order'])).err, /such as fulfil-order@1, and not fulfil-order\./);
});
