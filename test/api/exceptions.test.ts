import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { card, startApi } from './support.ts';

const operator = { as: 'operator' } as const;

describe('the exceptions of orders', () => {
  test('F-123: an order in Error names its exception and its task, and the exception can be read at once, without secrets', async () => {
    const { ask, orderInError } = startApi();
    const orderId = await orderInError('k');
    const order = (await ask('GET', `/orders/${orderId}`, operator)).json;
    const { status, json, text } = await ask('GET', `/exceptions/${order.exceptionId}`, operator);
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(json, {
      id: order.exceptionId,
      orderId,
      workflow: { name: 'fulfil-order', version: 3 },
      type: 'CardDeclined',
      state: 'open',
      handling: null,
      before: { processState: 'Processing' },
      after: { processState: 'Error' },
      taskId: order.taskId,
    });
    assert.ok(!text.includes(card));
    assert.ok(!('exceptionId' in (await ask('GET', `/orders/${orderId}`, { as: 'acme' })).json), 'a client sees the type alone');
  });

  test('F-124: are listed by filters, in pages that hold all of them, and with the order handled', async () => {
    const { ask, orderInError } = startApi();
    const orderIds: string[] = [];
    for (const key of ['a', 'b', 'c']) orderIds.unshift(await orderInError(key));
    const rev = (await ask('GET', `/orders/${orderIds[0]}`, operator)).headers.get('etag') as string;
    const body = { kind: 'terminate', reason: 'no stock' };
    assert.equal(
      (await ask('POST', `/orders/${orderIds[0]}/instructions`, { ...operator, headers: { 'if-match': rev }, body })).status,
      202,
    );

    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await ask('GET', `/exceptions?type=CardDeclined&limit=2${cursor && `&cursor=${cursor}`}`, operator);
      pages.push(json.items.map(({ orderId }: { orderId: string }) => orderId));
      cursor = json.next;
    }
    assert.deepEqual(pages.flat().toSorted(), orderIds.toSorted());
    const handled = (await ask('GET', '/exceptions?state=handled&tag=user', operator)).json.items;
    assert.partialDeepStrictEqual(handled, [{ orderId: orderIds[0], handling: { by: 'person', id: 'olga', control: 'none' } }]);
    assert.deepEqual((await ask('GET', '/exceptions?class=basic-failure', operator)).json.items, []);
  });

  test('are grouped, those with the most open ones first', async () => {
    const { ask, orderInError } = startApi();
    for (const key of ['a', 'b', 'c']) await orderInError(key);
    const { json } = await ask('GET', '/exceptions/groups', operator);
    assert.partialDeepStrictEqual(json, { items: [{ type: 'CardDeclined', workflow: 'fulfil-order', count: 3, open: 3 }], next: null });
    const alike = await ask('GET', `/exceptions?fingerprint=${json.items[0].fingerprint}&state=open`, operator);
    assert.equal(alike.json.items.length, 3);
    assert.deepEqual((await ask('GET', '/exceptions/groups?state=handled', operator)).json.items, []);
  });

  test('are for operators and viewers, and a bad call is refused with the name of its parameter', async () => {
    const { ask } = startApi();
    for (const path of ['/exceptions', '/exceptions/groups', '/exceptions/exc_x_1'])
      assert.equal((await ask('GET', path, { as: 'acme' })).status, 403);
    assert.equal((await ask('GET', '/exceptions', { as: 'viewer' })).status, 200);
    assert.equal((await ask('GET', '/exceptions/exc_abc_1', operator)).status, 404);
    for (const query of [
      '?class=odd',
      '?state=done',
      '?since=yesterday',
      '?step=order%2Fpick',
      '?cursor=abc',
      '/groups?since=2026-01-01T00:30:00Z',
    ])
      assert.equal((await ask('GET', `/exceptions${query}`, operator)).status, 400, query);
  });
});
