import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, secret } from 'redress';
import * as z from 'zod';
import { startApi } from './support.ts';

const answers = z.looseRecord(z.string().regex(/^card/), secret(z.string()));
const bank = defineAgent('bank', { check: operation({ input: z.object({ answers }), output: z.object({}), run: () => ({}) }) });
const check = defineWorkflow('fulfil-order', { version: 1, order: z.object({ answers }) }, ({ order }) =>
  bank.check({ answers: order.answers }),
);

test('S24: a secret in a field whose name matches a pattern is masked in an order, its history and the log', async () => {
  const { ask, submitOrder, answer, lines } = startApi({ app: defineApp({ workflows: [check], agents: [bank] }) });
  const canary = 'tok_canary_4711';
  const orderId = await submitOrder('k', { body: { order: { answers: { cardHers: canary } } } });
  await answer('bank', {
    status: 'failed',
    fault: { type: 'Unknown', class: 'unexpected', permanent: true, message: `unknown card ${canary}` },
  });
  const order = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual(order.json.order, { answers: { cardHers: '[secret]' } });
  assert.equal(order.json.fault.message, 'unknown card [secret]');
  const history = await ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'operator' });
  assert.match(history.text, /unknown card \[secret\]/);
  assert.ok(!`${order.text}${history.text}${lines.join('')}`.includes(canary));
});
