import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineWorkflow, sequence } from 'redress';
import { crashTest, startSystem } from 'redress/testing';
import * as z from 'zod';
import app, { OutOfStock, ordered, shop } from './workflow.ts';

const order = { item: 'lamp' };

test('an order completes wherever the process crashes', async () => {
  const { runs, outcomes } = await crashTest(ordered, [shop], { order });
  assert.deepEqual(outcomes, { completed: runs });
});

test('the whole system accepts an order', async () => {
  const system = await startSystem(app);
  assert.equal((await system.submit(order)).outcome, 'accepted');
  await system.stop();
});

test('an error in a workflow names the place in the file of its author', () => {
  const wrong = () =>
    defineWorkflow('wrong', { version: 1, order: z.object({}), toOperator: [OutOfStock] }, ({ order }) =>
      sequence(shop.reserve({ item: (order as { item?: never }).item as never })),
    );
  assert.throws(wrong, /workflow\.test\.ts:\d+/);
});
