import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '#diagrams/layout';
import { card, startApi } from './support.ts';

interface Item {
  readonly item: string;
  readonly path?: string;
  readonly items?: readonly Item[];
}

const pathsIn = (items: readonly Item[]): readonly string[] =>
  items.flatMap(({ path, items: inside = [] }) => [...(path === undefined ? [] : [path]), ...pathsIn(inside)]);

test('the graph of a workflow names the path of every step that an order of it shows, and can be laid out', async () => {
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
