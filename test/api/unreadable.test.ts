import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rolloutMs } from '#ports/errors';
import { type CallOptions, goodOrder, goodSubmission, startApi } from './support.ts';

const reason = { reason: 'no longer' };
const headers = { 'idempotency-key': 'k' };
const calls: readonly (readonly [method: string, path: string, asked: CallOptions])[] = [
  ['GET', '', { as: 'acme' }],
  ['GET', '', { as: 'operator' }],
  ['GET', '/history', { as: 'acme' }],
  ['POST', '/cancel', { as: 'acme', body: reason }],
  ['POST', '/signals/paid', { as: 'acme', body: {} }],
  ['GET', '/plan', { as: 'operator' }],
  ['POST', '/instructions', { as: 'operator', body: { kind: 'suspend', ...reason }, headers: { 'if-match': '"1"' } }],
];

/** An order of acme whose state is replaced in the store. */
async function withState(head: string) {
  const system = startApi();
  const orderId = await system.submitOrder('k');
  system.database.prepare(head).run();
  const answers = async () => {
    const all = [];
    for (const [method, path, options] of calls) all.push(await system.ask(method, `/orders/${orderId}${path}`, options));
    return all;
  };
  return { ...system, orderId, answers };
}

const newer = "UPDATE states SET head = json_set(head, '$.schemaVersion', 2)";
const damaged = "UPDATE states SET head = 'x' || head";

describe('an order whose state cannot be read', () => {
  test('F-63, X-35: gets 503 with retry-after if a newer version wrote it, until the deployment must be over', async () => {
    const { answers, clock } = await withState(newer);
    for (const { status, headers: answered } of await answers()) assert.deepEqual([status, answered.get('retry-after')], [503, '30']);
    await clock.advance(rolloutMs);
    for (const { status, json } of await answers()) {
      assert.equal(status, 409);
      assert.match(json.errors[0].detail, /it has schema version 2, expected 1/);
    }
  });

  test('F-63: gets 409 with the reason if it is damaged', async () => {
    const { answers, orderId } = await withState(damaged);
    const all = await answers();
    assert.deepEqual(
      all.map(({ status, json }) => [status, json.code]),
      [...Array.from({ length: 6 }, () => [409, 'conflict']), [409, 'infeasible']],
    );
    assert.match(all[0]?.json.errors[0].detail, new RegExp(`^The record of order ${orderId} cannot be read: it is damaged\\.`));
  });

  test('F-10: gets its first answer for a repeated submission, and another body under its key is refused', async () => {
    for (const head of [newer, damaged]) {
      const { ask } = await withState(head);
      const again = await ask('POST', '/orders', { as: 'acme', headers, body: goodSubmission });
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
      const other = await ask('POST', '/orders', { as: 'acme', headers, body: { order: { ...goodOrder, quantity: 0 } } });
      assert.deepEqual([other.status, other.json.code], [422, 'idempotency-key-reused']);
    }
  });

  test('F-08: is not found for another client', async () => {
    const { ask, orderId } = await withState(damaged);
    for (const path of [orderId, `ord_${'a'.repeat(52)}`]) assert.equal((await ask('GET', `/orders/${path}`, { as: 'other' })).status, 404);
  });

  test('F-08, F-63: is not found for any client if the order row is damaged, and operators get 409 with the reason', async () => {
    // The time changes as well, because the store caches the orders that it has read.
    const { answers } = await withState("UPDATE orders SET record = 'x' || record, submittedAt = submittedAt + 1");
    assert.deepEqual(
      (await answers()).map(({ status }, index) => [calls[index]?.[2].as, status]),
      calls.map(([, , { as }]) => [as, as === 'operator' ? 409 : 404]),
    );
  });
});
