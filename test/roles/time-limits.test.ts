import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { openDesk, submitted } from './support.ts';

const worker = defineAgent('worker', {
  pay: operation({ input: z.object({ item: z.string() }), output: z.object({}), run: () => ({}) }),
});
const line = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) =>
  sequence(worker.pay({ item: order.item }).within(15).noUndo()),
);

test('F-37, S15: when a step has a time limit, its late attempts count as failures, and the end of the limit does not', async (context) => {
  const desk = openDesk(context, defineApp({ workflows: [line], agents: [worker] }));
  const orderId = await submitted(desk);
  const passes = async (ms: number) => {
    await desk.clock.advance(ms);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const { failureCount, processState, fault } = await desk.state(orderId);
    return [failureCount, processState, fault?.type];
  };
  assert.deepEqual(await passes(10_000), [1, 'Processing', undefined]);
  const [, second] = await desk.requests();
  assert.equal(second && [second.attempt, second.remainingMs].join(), '2,5000');
  assert.deepEqual(await passes(4_900), [1, 'Processing', undefined]);
  assert.deepEqual(await passes(200), [1, 'Error', 'DeadlineExceeded']);
});
