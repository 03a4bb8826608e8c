import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { replay } from 'redress/testing';
import { card, startApi, type tokens } from './support.ts';

/** An order in Error whose secrets are stored as they came, because the process has no keys. */
async function withOrder() {
  const system = startApi();
  const orderId = await system.orderInError('k');
  const page = (query = '', as: keyof typeof tokens = 'operator') => system.ask('GET', `/orders/${orderId}/export${query}`, { as });
  return { ...system, orderId, page };
}

describe('an order that an operator exports', () => {
  test('has the order, its workflow, its state and its journal, and replays as it happened', async () => {
    const { page, orderId } = await withOrder();
    const { case: content, items: journal, next } = (await page('?limit=100', 'viewer')).json;
    assert.equal(next, null);
    assert.deepEqual(Object.keys(content), ['v', 'order', 'head', 'state', 'definition', 'schemas', 'rules']);
    assert.deepEqual([content.order.orderId, content.definition.name, content.head.processState], [orderId, 'fulfil-order', 'Error']);
    assert.deepEqual(Object.keys(content.schemas).toSorted(), ['payment.charge', 'shipping.ship', 'shipping.tell', 'stock.reserve']);
    assert.equal(replay({ ...content, journal }).difference, undefined);
  });

  test('F-51: has placeholders for secrets that are stored in plain text', async () => {
    const { ask, page, orderId } = await withOrder();
    const input = { reservationId: 'r-1', card: 'tok_other' };
    const body = { kind: 'replace-input', input, reason: 'another card' };
    const headers = {
      'if-match': (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).headers.get('etag') ?? '',
      'idempotency-key': 'once',
    };
    assert.equal((await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers, body })).status, 202);
    const { text, json } = await page('?limit=100');
    assert.ok(!text.includes(card), text);
    assert.ok(!text.includes('"keys"'), 'the hash of a call');
    assert.match(json.case.order.body.card, /^sealed:1:secret-1-0+:case$/);
    assert.equal(replay({ ...json.case, journal: json.items }).difference, undefined);
  });

  test('comes in pages, and only the person who requested the first page can read the others', async () => {
    const { ask, page, orderId } = await withOrder();
    const first = (await page('?limit=3')).json;
    const second = await page(`?limit=3&cursor=${first.next}`);
    assert.deepEqual([first.items.length, second.json.items[0].seq, second.json.case], [3, 4, undefined]);
    const foreign = await ask('GET', `/orders/${orderId}/export?limit=3&cursor=${first.next}`, { as: 'viewer' });
    assert.deepEqual([foreign.status, foreign.json.code], [400, 'bad-parameter']);
  });

  test('has the journal lines that can be read, and no state, if its state is damaged', async () => {
    const { database, page } = await withOrder();
    database.prepare(`UPDATE states SET blob = substr(blob, 1, instr(blob, '"state":')) || 'x'`).run();
    const { case: content, items: journal } = (await page('?limit=100')).json;
    assert.equal(content.state, null);
    assert.equal(replay({ ...content, journal }).difference, undefined);
  });

  test('is recorded in the audit as a read of personal data', async () => {
    const { ask, page, orderId } = await withOrder();
    await page();
    const { items } = (await ask('GET', '/audit?kind=read', { as: 'admin' })).json;
    assert.partialDeepStrictEqual(items, [{ kind: 'read', target: orderId, by: 'olga' }]);
  });
});
