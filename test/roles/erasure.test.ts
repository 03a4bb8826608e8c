import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { call, defineAgent, defineApp, defineWorkflow, operation, secret, sequence } from 'redress';
import * as z from 'zod';
import { decodeInstance } from '#roles/scheduler/instance';
import { eraseSecrets } from '#roles/secrets/erase';
import { type Desk, openDesk, submitted } from './support.ts';

const card = 'tok_canary_4711';
const Order = z.object({ item: z.string(), card: secret(z.string()) });
const payment = defineAgent('worker', {
  charge: operation({ input: Order, output: z.object({ id: z.string() }), run: () => ({ id: 'c' }) }),
});
const inner = defineWorkflow('inner', { version: 1, order: Order }, ({ order }) => payment.charge({ item: order.item, card: order.card }));
const sale = defineWorkflow('sale', { version: 1, order: Order }, ({ order }) =>
  sequence(payment.charge({ item: order.item, card: order.card }), call(inner, { item: order.item, card: order.card })),
);
const app = defineApp({ workflows: [sale, inner], agents: [payment] });
const order = { item: 'tea', card };
const erase = (desk: Desk, orderId: string) => eraseSecrets(orderId, () => [], desk.system);

async function finished(desk: Desk, orderId: string): Promise<void> {
  for (let round = 0; (await desk.state(orderId)).processState !== 'Processed'; round++) {
    assert.ok(round < 20);
    for (const queue of ['worker-requests', 'worker-replies', 'workflows-requests', 'workflows-replies']) await desk.deliver(queue);
  }
}

describe('A9: the secrets of an order', () => {
  test('are not erased while the order needs them; afterwards its key is deleted, with the keys of the orders that it called', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, order);
    assert.equal((await erase(desk, orderId)).outcome, 'conflict');
    await finished(desk, orderId);
    const before = decodeInstance((await desk.store.load(orderId))?.state as never).tail;
    const erased = await erase(desk, orderId);
    assert.equal(erased.outcome, 'erased');
    const orders = 'orders' in erased ? erased.orders : [];
    assert.equal(orders.length, 2);
    for (const id of orders) {
      const found = await desk.store.load(id);
      assert.deepEqual([found?.order.key, found?.order.body], [undefined, { item: 'tea', card: '[secret]' }]);
      assert.ok(await desk.store.document('ERASED', id));
    }
    assert.deepEqual(decodeInstance((await desk.store.load(orderId))?.state as never).tail, before, 'the history stays');
    assert.equal((await erase(desk, orderId)).outcome, 'erased-before');
    assert.equal((await erase(desk, orders[1] ?? '')).outcome, 'erased-before');
  });

  test('are not erased separately if another order has called the order: the refusal names the caller', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, order);
    await finished(desk, orderId);
    const [, child = ''] = desk.database
      .prepare('SELECT orderId FROM orders ORDER BY id')
      .all()
      .map((row) => String((row as { orderId: string }).orderId));
    const refused = await erase(desk, child);
    assert.match(JSON.stringify(refused), new RegExp(`The order ${orderId} called this one`));
  });

  test('are erased from dead letters that hold them in any form', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, order, { key: 'k' });
    await finished(desk, orderId);
    const torn = `{"v":1,"type":"submission","order":{"item":"tea","card":"${card}"`;
    await desk.send('submissions', torn);
    await desk.send('submissions', '{"another": 1');
    await desk.deliver('submissions');
    assert.equal((await desk.deadLetter()).length, 2);
    assert.doesNotMatch(JSON.stringify(desk.database.prepare('SELECT record FROM documents').all()), /canary/);
    const erased = await erase(desk, orderId);
    assert.equal('deadLetters' in erased && erased.deadLetters, 1);
    assert.deepEqual((await desk.deadLetter()).map(({ body, erased: gone }) => [body, gone]).toSorted(), [
      ['', true],
      ['{"another": 1', undefined],
    ]);
  });

  test('that were stored before this version, in plain text, reach their agent, and an erasure masks them', async (context) => {
    const desk = openDesk(context, app, { around: () => ({ keys: undefined }) });
    const orderId = await submitted(desk, order);
    assert.deepEqual((await desk.store.load(orderId))?.order.body, order);
    await finished(desk, orderId);
    assert.equal((await erase(desk, orderId)).outcome, 'erased');
    assert.deepEqual((await desk.store.load(orderId))?.order.body, { item: 'tea', card: '[secret]' });
  });
});
