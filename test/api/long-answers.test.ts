import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { answerLimits, boundedPage, boundedSteps } from '#api/bounded';
import { listOf } from '../support/workflows.ts';
import { startApi } from './support.ts';

const lambdaMax = 6 * 1024 * 1024;
const step = (index: number, bytes: number, status = 'Closed') => ({
  path: `order/s${index}`,
  name: 'x'.repeat(300),
  status,
  output: 'x'.repeat(bytes),
});
const bytesOf = (value: unknown): number => JSON.stringify(value).length;

test('S23: with a thousand steps of 7 KB each, outputs beyond the limit are left out, and the answer says where to read them', () => {
  const { steps, ...more } = boundedSteps(
    'ord_x',
    listOf(1000, (index) => step(index, 7000)),
  );
  assert.equal(steps.length, 1000);
  assert.deepEqual(more, {});
  const whole = steps.filter(({ output }) => output !== null);
  assert.ok(whole.length > 100 && whole.length < 200, `${whole.length}`);
  const [left] = steps.filter(({ output }) => output === null);
  assert.equal(left && 'outputReadAt' in left ? left.outputReadAt : undefined, '/orders/ord_x/history');
  assert.ok(bytesOf(steps) < lambdaMax);
});

test('S23: with very many steps, closed steps are left out, but running steps never', () => {
  const all = [...listOf(30_000, (index) => step(index, 0)), step(30_000, 10, 'Executing')];
  const { steps, stepsLeftOut } = boundedSteps('ord_x', all);
  assert.equal(steps.at(-1)?.path, 'order/s30000');
  assert.deepEqual(stepsLeftOut, { count: all.length - steps.length, readAt: '/orders/ord_x/history' });
  assert.ok(bytesOf(steps) < lambdaMax);
});

test('S23: a step whose size is exactly the limit is shown, and a step that is one byte longer is left out', () => {
  const named = (name: string) => ({ path: 'order/s', name, status: 'Closed', output: null });
  const room = answerLimits.steps - bytesOf(named(''));
  assert.equal(boundedSteps('ord_x', [named('x'.repeat(room))]).steps.length, 1);
  assert.equal(boundedSteps('ord_x', [named('x'.repeat(room + 1))]).steps.length, 0);
});

test('S23: few short steps are shown unchanged', () => {
  const all = listOf(10, (index) => step(index, 1000));
  assert.deepEqual(boundedSteps('ord_x', all), { steps: all });
});

test('S23: a page of the history ends at the size limit, and holds at least one entry', () => {
  const entry = { seq: 1, output: 'x'.repeat(200_000) };
  const page = boundedPage(listOf(100, () => entry));
  assert.ok(page.length > 5 && bytesOf(page) <= answerLimits.history + 1000);
  assert.equal(boundedPage([{ output: 'x'.repeat(answerLimits.history) }, entry]).length, 1);
  assert.equal(boundedPage(listOf(5, () => entry)).length, 5);
});

const Page = z.object({ text: z.string() });
const press = defineAgent('press', { print: operation({ input: z.object({}), output: Page, run: () => ({ text: '' }) }) });
const printing = defineWorkflow('fulfil-order', { version: 1, order: z.object({}) }, () =>
  sequence(...listOf(12, (index) => press.print({}).noUndo().named(`page-${index}`))),
);

test('S23, F-159: an order with twelve outputs of 200 KB is shown in bounded length, and the pages of its history leave out no output', async () => {
  const { ask, submitOrder, answer } = startApi({ app: defineApp({ workflows: [printing], agents: [press] }) });
  const orderId = await submitOrder('k', { body: { order: {} } });
  for (let page = 0; page < 12; page++) await answer('press', { status: 'succeeded', output: { text: `${page}`.padEnd(200_000, 'x') } });

  const { json, text } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual(
    json.steps.map(({ output, outputReadAt }: { output: unknown; outputReadAt?: string }) => [output !== null, outputReadAt !== undefined]),
    listOf(12, (index) => [index < 5, index >= 5]),
  );
  assert.ok(text.length < answerLimits.outputs + 10_000, `${text.length}`);

  const outputs: string[] = [];
  let cursor = '';
  do {
    const page = await ask('GET', `/orders/${orderId}/history?limit=100${cursor}`, { as: 'operator' });
    assert.ok(page.text.length < answerLimits.history + 10_000, `${page.text.length}`);
    for (const { output } of page.json.items) if (output) outputs.push(output.text);
    cursor = page.json.next && `&cursor=${page.json.next}`;
  } while (cursor);
  assert.deepEqual(
    outputs.map((output) => Number.parseInt(output, 10)),
    listOf(12, (index) => index),
  );
});
