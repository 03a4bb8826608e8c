import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issuer, startApi } from './support.ts';

const otto = await issuer.sign({ role: 'operator', subject: 'otto' });
const body = { seconds: 60, reason: 'I look into it' };

async function withLockedOrder() {
  const system = startApi();
  const orderId = await system.orderInError('k');
  const locked = await system.ask('POST', `/orders/${orderId}/lock`, { as: 'operator', body });
  assert.equal(locked.status, 200);
  return { ...system, orderId, locked };
}

test('F-15: an operator who locks an order gets its new ETag, and other people get 409 locked', async () => {
  const { ask, orderId, locked, clock } = await withLockedOrder();
  const lockedUntil = new Date(clock.now() + 60_000).toISOString();
  assert.partialDeepStrictEqual(locked.json, { orderId, heldBy: 'olga', lockedUntil });
  const etag = locked.headers.get('etag') ?? '';
  const shown = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual([shown.headers.get('etag'), shown.json.heldBy, shown.json.lockedUntil], [etag, 'olga', lockedUntil]);

  const instruction = { body: { kind: 'resubmit', reason: 'the bank works again' }, headers: { 'if-match': etag } };
  const refused = await ask('POST', `/orders/${orderId}/instructions`, { token: otto, ...instruction });
  assert.deepEqual([refused.status, refused.json.code, refused.headers.get('retry-after')], [409, 'locked', '60']);
  assert.deepEqual([refused.json.heldBy, refused.json.lockedUntil], ['olga', lockedUntil]);
  const canceled = await ask('POST', `/orders/${orderId}/cancel`, { as: 'acme', body: { reason: 'too late' } });
  assert.deepEqual([canceled.status, canceled.headers.get('retry-after'), 'heldBy' in canceled.json], [409, '60', false]);
  assert.equal((await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', ...instruction })).status, 202);
});

test('F-22: the holder of a lock or an admin can unlock an order, another operator cannot; an unlock of an order without a lock changes nothing', async () => {
  const { ask, orderId } = await withLockedOrder();
  const path = `/orders/${orderId}/lock`;
  const refused = await ask('DELETE', path, { token: otto });
  assert.deepEqual([refused.status, refused.json.code, refused.json.heldBy], [409, 'locked', 'olga']);
  assert.equal((await ask('DELETE', path, { as: 'admin' })).status, 204);
  assert.equal((await ask('DELETE', path, { as: 'operator' })).status, 204);
  assert.equal((await ask('POST', path, { token: otto, body })).status, 200);
  const audit = await ask('GET', '/audit?kind=lock', { as: 'admin' });
  assert.deepEqual(
    audit.json.items.map(({ action, by, reason }: { action: string; by: string; reason: string }) => [action, by, reason]),
    [
      ['lock', 'otto', body.reason],
      ['unlock', 'ada', null],
      ['lock', 'olga', body.reason],
    ],
  );
});

test('a lock is refused and changes nothing if its order is finished or unknown, or if its body is invalid', async () => {
  const { ask, orderId, stored } = await withLockedOrder();
  const before = await stored();
  for (const [given, pointer] of [
    [{ ...body, seconds: 0 }, '/seconds'],
    [{ ...body, seconds: 3601 }, '/seconds'],
    [{ ...body, seconds: 1.5 }, '/seconds'],
    [{ seconds: 60 }, '/reason'],
    [{ ...body, by: 'ada' }, '/by'],
  ] as const) {
    const refused = await ask('POST', `/orders/${orderId}/lock`, { as: 'operator', body: given });
    assert.deepEqual([refused.status, refused.json.errors[0].pointer], [422, pointer]);
  }
  assert.equal((await ask('POST', '/orders/ord_none/lock', { as: 'operator', body })).status, 404);
  assert.equal((await ask('DELETE', '/orders/ord_none/lock', { as: 'operator' })).status, 404);
  for (const as of ['acme', 'viewer'] as const) assert.equal((await ask('POST', `/orders/${orderId}/lock`, { as, body })).status, 403);
  assert.equal(await stored(), before);

  const etag = (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).headers.get('etag') ?? '';
  const end = { kind: 'terminate', reason: 'lost' };
  await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', body: end, headers: { 'if-match': etag } });
  const finished = await ask('POST', `/orders/${orderId}/lock`, { as: 'operator', body });
  assert.deepEqual([finished.status, finished.json.code], [409, 'conflict']);
});
