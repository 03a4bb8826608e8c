import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerLimits, boundedPage, boundedSteps } from '../../lib/api/bounded.ts';
import { listOf } from '../support/workflows.ts';

const lambdaMax = 6 * 1024 * 1024;
const step = (index: number, bytes: number, status = 'Closed') => ({
  path: `order/s${index}`,
  name: 'x'.repeat(300),
  status,
  output: 'x'.repeat(bytes),
});
const bytesOf = (value: unknown): number => JSON.stringify(value).length;

test('S23 a thousand steps of 7 KB each: outputs are left out where the answer would be too long, and it says where they can be read', () => {
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

test('S23 of very many steps closed ones are left out, never one that is alive', () => {
  const all = [...listOf(30_000, (index) => step(index, 0)), step(30_000, 10, 'Executing')];
  const { steps, stepsLeftOut } = boundedSteps('ord_x', all);
  assert.equal(steps.at(-1)?.path, 'order/s30000');
  assert.deepEqual(stepsLeftOut, { count: all.length - steps.length, readAt: '/orders/ord_x/history' });
  assert.ok(bytesOf(steps) < lambdaMax);
});

test('S23 few short steps are shown as they are', () => {
  const all = listOf(10, (index) => step(index, 1000));
  assert.deepEqual(boundedSteps('ord_x', all), { steps: all });
});

test('S23 a page of the history ends where it would be too long, and holds one entry at least', () => {
  const entry = { seq: 1, output: 'x'.repeat(200_000) };
  const page = boundedPage(listOf(100, () => entry));
  assert.ok(page.length > 5 && bytesOf(page) <= answerLimits.history + 1000);
  assert.equal(boundedPage([{ output: 'x'.repeat(answerLimits.history) }, entry]).length, 1);
  assert.equal(boundedPage(listOf(5, () => entry)).length, 5);
});
