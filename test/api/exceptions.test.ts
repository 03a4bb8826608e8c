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

  test('F-124: are listed by filters, in pages that leave none out, and the handled ones with who handled them', async () => {
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

  test('are grouped; the group with the most open exceptions comes first', async () => {
    const { ask, orderInError } = startApi();
    for (const key of ['a', 'b', 'c']) await orderInError(key);
    const { json } = await ask('GET', '/exceptions/groups', operator);
    assert.partialDeepStrictEqual(json, { items: [{ type: 'CardDeclined', workflow: 'fulfil-order', count: 3, open: 3 }], next: null });
    const alike = await ask('GET', `/exceptions?fingerprint=${json.items[0].fingerprint}&state=open`, operator);
    assert.equal(alike.json.items.length, 3);
    assert.deepEqual((await ask('GET', '/exceptions/groups?state=handled', operator)).json.items, []);
  });

  test('are read by operators and viewers, and an invalid call is refused with the name of its parameter', async () => {
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

describe('an exception from outside', () => {
  const call = (ask: ReturnType<typeof startApi>['ask'], orderId: string, body: unknown, more: object = {}) =>
    ask('POST', `/orders/${orderId}/exceptions`, { ...operator, body, ...more });
  const broken = { type: 'GoodsDamaged', message: 'The pallet fell', path: 'order/charge', data: { pallet: 7 } };

  test('F-164: gets an id, and the same id for a repeated call under its idempotency key; the audit has it once', async () => {
    const { ask, submitOrder } = startApi();
    const orderId = await submitOrder('k');
    const headers = { 'idempotency-key': 'pallet-7' };
    const first = await call(ask, orderId, broken, { headers });
    assert.equal(first.status, 202, first.text);
    const second = await call(ask, orderId, broken, { headers });
    assert.deepEqual([second.status, second.text], [202, first.text]);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal((await call(ask, orderId, { ...broken, message: 'Another one' }, { headers })).json.code, 'idempotency-key-reused');

    const { exceptionId } = first.json;
    const { json } = await ask('GET', `/exceptions/${exceptionId}`, operator);
    assert.partialDeepStrictEqual(json, {
      type: 'GoodsDamaged',
      class: 'unexpected',
      path: 'order/charge',
      data: { pallet: 7 },
      state: 'open',
    });
    const order = (await ask('GET', `/orders/${orderId}`, operator)).json;
    assert.deepEqual([order.processState, order.suspended, order.exceptionId], ['Error', false, exceptionId]);
    const audited = (await ask('GET', `/audit?target=${orderId}`, operator)).json.items.filter(
      ({ kind }: { kind: string }) => kind !== 'read',
    );
    assert.partialDeepStrictEqual(audited, [{ by: 'olga', kind: 'instruction', action: 'report', reason: 'The pallet fell' }]);
    assert.equal(audited.length, 1);
  });

  test('F-164: shows no secret of the order, in its message or in its data', async () => {
    const { ask, submitOrder } = startApi();
    const orderId = await submitOrder('k');
    const { json } = await call(ask, orderId, { ...broken, message: `stolen: ${card}`, data: { card } });
    const shown = await ask('GET', `/exceptions/${json.exceptionId}`, operator);
    assert.ok(!shown.text.includes(card), shown.text);
  });

  test('F-164: is refused if it is invalid: the answer names the field and the remedy, and nothing changes', async () => {
    const { ask, submitOrder } = startApi();
    const orderId = await submitOrder('k');
    const before = (await ask('GET', `/orders/${orderId}`, operator)).text;
    for (const [wrong, pointer] of [
      [{ type: 'goods damaged' }, '/type'],
      [{ type: 'OperatorAsked' }, '/type'],
      [{ message: '' }, '/message'],
      [{ message: 'x'.repeat(1025) }, '/message'],
      [{ path: 'order/pay' }, '/path'],
      [{ data: 'x'.repeat(4097) }, '/data'],
      [{ class: 'expected' }, '/class'],
    ] as const) {
      const { status, json } = await call(ask, orderId, { ...broken, ...wrong });
      assert.deepEqual([status, json.errors?.[0]?.pointer], [422, pointer], JSON.stringify(json));
    }
    assert.equal((await call(ask, 'ord_nobody', broken)).status, 404);
    assert.equal((await call(ask, orderId, broken, { as: 'viewer' })).status, 403);
    assert.equal((await call(ask, 'ord_nobody', broken, { as: 'acme' })).status, 403);
    assert.equal((await ask('GET', `/orders/${orderId}`, operator)).text, before);
  });

  test('F-164: is refused by a finished order with 409 conflict', async () => {
    const { ask, submitOrder } = startApi();
    const orderId = await submitOrder('k');
    await ask('POST', `/orders/${orderId}/cancel`, { ...operator, body: { reason: 'not wanted' } });
    const rev = (await ask('GET', `/orders/${orderId}`, operator)).headers.get('etag') as string;
    await ask('POST', `/orders/${orderId}/instructions`, {
      ...operator,
      headers: { 'if-match': rev },
      body: { kind: 'terminate', reason: 'over' },
    });
    const { status, json } = await call(ask, orderId, broken);
    assert.deepEqual([status, json.code], [409, 'conflict'], JSON.stringify(json));
  });
});
