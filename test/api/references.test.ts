import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startBulk } from '../roles/bulk/support.ts';
import { goodSubmission, startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const declined = { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } as const;

/** Submits an order with a reference that ends in Error. */
async function blocked({ submitOrder, answer }: Pick<ReturnType<typeof startApi>, 'submitOrder' | 'answer'>, reference: string) {
  const orderId = await submitOrder(reference, { body: { ...goodSubmission, reference } });
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  await answer('payment', { status: 'failed', fault: declined });
  return orderId;
}

describe('F-123, F-153: the reference of an order', () => {
  test('is in the lists of tasks and of exceptions, and these calls add no read to the audit', async () => {
    const api = startApi();
    await blocked(api, 'lot-4711');
    await api.orderInError('without');
    for (const path of ['/tasks', '/exceptions']) {
      const { items } = (await api.ask('GET', path, operator)).json;
      const references = items.map(({ reference }: { reference?: string }) => reference);
      assert.deepEqual(references.toSorted(), ['lot-4711', undefined], path);
    }
    const { items } = (await api.ask('GET', '/audit?kind=read', { as: 'admin' })).json;
    assert.deepEqual(items, []);
  });

  test('F-158: is in the items of a bulk run, whichever filter has chosen its orders', async () => {
    const shop = startBulk();
    const orderId = await blocked(shop, 'lot-4711');
    const without = await shop.orderInError('without');
    const { fingerprint } = (await shop.ask('GET', '/exceptions', operator)).json.items[0];
    for (const filter of [{ state: 'Error' }, { fingerprint }, { ids: [orderId, without, 'ord_nobody'] }]) {
      const id = await shop.created({ filter });
      await shop.work();
      const items = (await shop.items(id)) as readonly { readonly orderId: string; readonly reference?: string }[];
      const found = new Map(items.map((item) => [item.orderId, item.reference]));
      assert.equal(found.get(orderId), 'lot-4711', JSON.stringify(filter));
      assert.ok(found.has(without) && found.get(without) === undefined);
    }
  });
});

describe('F-158: an item of a bulk run', () => {
  test('shows the present state of an order that failed after the instruction, and no state of an order that passed', async () => {
    const shop = startBulk();
    await shop.ordersInError(2);
    const id = await shop.created({ start: true });
    await shop.work();
    await shop.answer('payment', { status: 'failed', fault: { ...declined, type: 'BankClosed' } });
    await shop.answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 't' } });
    for (let look = 0; look < 5 && (await shop.run(id)).verified.running > 0; look++) {
      await shop.running.sleep(5_000);
      await shop.work();
    }
    const items = (await shop.items(id)) as readonly { readonly verified?: string; readonly now?: object }[];
    assert.deepEqual(items.map(({ verified }) => verified).toSorted(), ['failed-otherwise', 'passed']);
    assert.deepEqual(
      items.map(({ now }) => now).filter((now) => now !== undefined),
      [{ processState: 'Error', outcome: null, fault: { type: 'BankClosed', message: 'no' } }],
    );
  });
});
