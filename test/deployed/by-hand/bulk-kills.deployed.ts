import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkView } from '#cli/bulk';
import { serviceNames } from '../../../examples/shop/services.ts';
import { asked, disturb, effects, eventually, killFunction, type Order, sample, submit } from '../support.ts';

/** `BULK_ORDERS=50` plays fewer. */
const orders = Number(process.env['BULK_ORDERS'] || 500);
/** Orders with an outcome at which the function is killed. */
const killedAt = [orders / 5, orders / 2];
const done = ({ applied, refused, movedOn, failed }: BulkView): number => applied + refused + movedOn + failed;

test('X-9: a bulk run over 500 deployed orders, whose function is killed twice, gives each order one outcome and at most one instruction', async (t) => {
  await disturb(t, { service: 'inventory', failRate: 1, failStatus: 422 });
  const orderIds = await inFours(Array.from({ length: orders }), () => submit(sample('ok')));
  const stopped = await inFours(orderIds, restOf);
  assert.equal(stopped.filter(({ processState }) => processState === 'Error').length, orders);
  const [fault = '', ...others] = new Set(stopped.map((order) => order.fault?.type));
  assert.deepEqual(others, []);

  const { id } = await asked<{ id: string }>('POST', '/bulk', {
    filter: { fault, submittedAfter: new Date(Date.now() - 3_600_000).toISOString() },
    instruction: { kind: 'resubmit' },
    reason: 'The printer has paper.',
    ratePerSecond: 20,
  });
  await until(id, ({ state }) => state === 'ready');
  await disturb(t, {});
  await asked('POST', `/bulk/${id}/start`, { reason: 'as planned' });
  const kills: object[] = [];
  for (const wanted of killedAt) {
    const { state } = await until(id, (run) => done(run) >= wanted);
    const processes = await eventually('a process of the function', async () => killFunction('bulk') || undefined);
    kills.push({ state, wanted, processes });
  }
  const run = await until(id, ({ state, verified }) => state === 'done' && verified.running === 0);

  const items = await itemsOf(id);
  const outcomes = new Map(items.map(({ orderId, outcome }) => [orderId, outcome]));
  assert.deepEqual(new Set(outcomes.keys()), new Set(orderIds));
  assert.equal(items.length, orders, 'an order has two items');
  // A busy local server leaves calls to the table without an answer: after five tries such an order is `failed`, and has no instruction.
  const numberOf = (wanted: string): number => items.filter(({ outcome }) => outcome === wanted).length;
  const [applied, failed] = [numberOf('applied'), numberOf('failed')];
  assert.equal(applied + failed, orders);
  assert.partialDeepStrictEqual(run, { count: orders, applied, failed, refused: 0, movedOn: 0, left: 0 });
  assert.equal(run.verified.passed, applied);
  await inFours(orderIds, async (orderId) => {
    const times = outcomes.get(orderId) === 'applied' ? 1 : 0;
    for (const service of serviceNames) assert.equal((await effects(service, orderId)).length, times, `${service} ${orderId}`);
    const { outcome } = await restOf(orderId);
    assert.equal(outcome, times === 1 ? 'completed' : null, orderId);
    const history = await asked<{ items: readonly { type: string }[] }>('GET', `/orders/${orderId}/history?limit=100`);
    assert.equal(history.items.filter(({ type }) => type === 'InstructionGiven').length, times, orderId);
  });
  assert.ok(
    kills.every((kill) => (kill as { state: string }).state === 'running'),
    JSON.stringify(kills),
  );
  t.diagnostic(JSON.stringify({ figure: 'deployed bulk run', orders, applied, failed, passed: run.verified.passed, kills }));
});

const until = (id: string, isSo: (run: BulkView) => boolean): Promise<BulkView> =>
  eventually(`the bulk run ${id}`, async () => {
    const run = await asked<BulkView>('GET', `/bulk/${id}`);
    return isSo(run) ? run : undefined;
  });

async function itemsOf(id: string): Promise<readonly { readonly orderId: string; readonly outcome: string }[]> {
  const items: { readonly orderId: string; readonly outcome: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/bulk/${id}/items?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page: { items: typeof items; next: string | null } = await asked('GET', path);
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

/** Waits until the order has ended or waits for a person. */
const restOf = (orderId: string): Promise<Order> =>
  eventually(`the rest of ${orderId}`, async () => {
    const order = await asked<Order>('GET', `/orders/${orderId}`);
    return order.processState === 'Processed' || order.processState === 'Error' ? order : undefined;
  });

/** Four at a time: a local server starts a process for each further parallel call. */
async function inFours<T, R>(all: readonly T[], work: (each: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += 4) results.push(...(await Promise.all(all.slice(at, at + 4).map(work))));
  return results;
}
