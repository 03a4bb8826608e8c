import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { layOut } from '#diagrams/layout';
import { card, startApi } from './support.ts';

const Letter = z.object({ to: z.string() });
const post = defineAgent('post', { send: operation({ input: Letter, output: Letter, run: ({ to }) => ({ to }) }) });
const versionsOfLetter = [1, 2].map((version) =>
  defineWorkflow('letter', { version, order: Letter }, ({ order }) => sequence(post.send(order).noUndo())),
);
const letter = { workflow: 'letter', order: { to: 'Ann' } };

interface Item {
  readonly item: string;
  readonly path?: string;
  readonly items?: readonly Item[];
}

const pathsIn = (items: readonly Item[]): readonly string[] =>
  items.flatMap(({ path, items: inside = [] }) => [...(path === undefined ? [] : [path]), ...pathsIn(inside)]);

test('the graph of a workflow names the path of every step that its orders show, and can be laid out', async () => {
  const { ask, submitOrder } = startApi();
  const orderId = await submitOrder('k');
  const shown = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  const { status, json } = await ask('GET', '/workflows/fulfil-order/3', { as: 'viewer' });
  assert.equal(status, 200);
  const steps = shown.json.steps.map(({ path }: { path: string }) => path);
  assert.deepEqual(
    steps.filter((path: string) => !pathsIn(json.graph).includes(path)),
    [],
  );
  assert.deepEqual(
    json.steps.map(({ path }: { path: string }) => path),
    steps,
  );
  assert.equal(layOut({ items: json.graph }).boxes.length > steps.length, true);
  assert.deepEqual(json.steps[0].inputSchema.required, ['sku']);
});

test('a version that the app does not have is not found', async () => {
  const { ask } = startApi();
  for (const path of ['/workflows/fulfil-order/4', '/workflows/fulfil-order/x', '/workflows/other/3'])
    assert.equal((await ask('GET', path, { as: 'operator' })).status, 404);
});

test('an open step shows operators its input with masked secrets, and clients nothing of it', async () => {
  const { ask, orderInError } = startApi();
  const orderId = await orderInError('k');
  const { json, text } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual(
    json.steps.map(({ input }: { input?: unknown }) => input),
    [undefined, { reservationId: 'r-1', card: '[secret]' }, undefined, undefined],
  );
  assert.equal(text.includes(card), false);
  assert.equal((await ask('GET', `/orders/${orderId}`, { as: 'acme' })).text.includes('r-1'), false);
});

test('an operator pages through the orders whose histories are compared with another version', async () => {
  const { ask, submitOrder } = startApi({ app: defineApp({ workflows: versionsOfLetter, agents: [post] }) });
  const ids = [await submitOrder('one', { body: letter }), await submitOrder('two', { body: letter })];
  const check = (body: object) => ask('POST', '/workflows/letter/1/check', { as: 'operator', body });
  const first = await check({ limit: 1 });
  assert.deepEqual([first.status, first.json.checked, first.json.fit], [200, 1, 1]);
  const second = await check({ limit: 1, cursor: first.json.next });
  const found = [...first.json.items, ...second.json.items].map(({ orderId }: { orderId: string }) => orderId);
  assert.deepEqual(found.toSorted(), ids.toSorted());
  assert.deepEqual((await ask('POST', '/workflows/letter/2/check', { as: 'operator', body: {} })).json.items, [], 'their own version');
  assert.equal((await ask('POST', '/workflows/letter/3/check', { as: 'operator', body: {} })).status, 404);
  assert.equal((await check({ cursor: 'x' })).status, 400);
  assert.equal((await check({ limit: 51 })).status, 422);
});
