import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnprocessableMessage } from 'redress';
import type { JsonObject } from '#core/data/json';
import { treat } from '#roles/dead-letters/resubmit';
import { lineOf, openDesk, submitted } from '../support.ts';

test('F-120: a message with an unknown article is dead-lettered, the others continue, and after an edit its order completes', async (context) => {
  const pack = ({ item }: { readonly item: string }) => {
    if (item !== 'tea') throw new UnprocessableMessage(`There is no article ${item}.`);
    return {};
  };
  const app = {
    ...lineOf({ pack }, { operation: { completeWithinSeconds: 3600 } }),
    channels: { worker: { conversation: 'goes on' as const } },
  };
  const desk = openDesk(context, app);
  const orderId = await submitted(desk, { item: 'teee' });
  const other = await submitted(desk, { item: 'tea' });
  for (let delivery = 1; delivery <= 4; delivery++) await desk.deliver('worker-requests');
  const [parked, ...more] = await desk.deadLetter();
  await desk.deliver('worker-replies');
  assert.deepEqual([(await desk.state(other)).outcome, (await desk.state(orderId)).processState], ['completed', 'Processing']);

  assert.ok(parked);
  assert.deepEqual([parked.failures, parked.attempts.length, parked.orderId, more], [4, 4, orderId, []]);
  const body = { ...(JSON.parse(parked.body) as JsonObject), input: { orderId, item: 'tea' } };
  const treatment = { action: 'resubmit', by: 'olga', reason: 'it is called tea', body } as const;
  assert.equal((await treat('worker', parked.id, treatment, { ...desk.system, defaultWorkflow: 'line' })).outcome, 'done');
  assert.equal(await desk.deliver('worker-requests'), 0);
  await desk.deliver('worker-replies');
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});
