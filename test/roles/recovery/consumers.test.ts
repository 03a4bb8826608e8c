import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { consumersOf } from '#roles/recovery/consumers';
import { type ObjectUse, storeObjects } from '#roles/recovery/objects';
import { noon } from '../../support/records.ts';
import { listOf } from '../../support/workflows.ts';

type Use = ObjectUse & { readonly object: string };

/** A store in which orders have used objects. */
async function usedStore(uses: readonly Use[]) {
  const { store } = openEmbedded(':memory:', { clock: manualClock(), redriveOf: () => undefined } as never);
  for (const [seq, { orderId, path, at: closedAt, use, object }] of uses.entries()) {
    const names = { reads: use === 'read' ? [object] : [], writes: use === 'write' ? [object] : [] };
    await storeObjects({ id: `${seq}`, kind: 'objects', orderId, path, closedAt, seq, ...names }, store);
  }
  return store;
}

const lot = (orderId: string, use: Use['use'], at: number): Use => ({
  orderId,
  path: `order/${use}`,
  at: noon + at,
  use,
  object: 'lot/4711',
});
const consumersAfter = async (uses: readonly Use[], undoneAt?: number) => {
  const write = { object: 'lot/4711', orderId: 'a', at: noon, ...(undoneAt === undefined ? {} : { undoneAt: noon + undoneAt }) };
  return (await consumersOf([write], await usedStore(uses))).items.map(({ orderId }) => orderId);
};

test('F-151: consumers of a write are other orders that have read the object after it, before its undo and before the next write of another order', async () => {
  const uses = [
    lot('early', 'read', -1),
    lot('a', 'write', 0),
    lot('b', 'read', 1),
    lot('a', 'read', 2),
    lot('a', 'write', 3),
    lot('c', 'read', 4),
  ];
  assert.deepEqual(await consumersAfter(uses), ['b', 'c']);
  assert.deepEqual(await consumersAfter(uses, 2), ['b']);
  assert.deepEqual(await consumersAfter([...uses, lot('x', 'write', 5), lot('d', 'read', 6)]), ['b', 'c']);
  assert.deepEqual(await consumersAfter([lot('a', 'write', 0), lot('same', 'read', 0)]), ['same']);
});

test('F-151: the answer lists 1,000 of 1,001 consumers, and says that there are more', async () => {
  const reads = listOf(1001, (index) => lot(`o${index}`, 'read', index + 1));
  const store = await usedStore([lot('a', 'write', 0), ...reads]);
  const write = { object: 'lot/4711', orderId: 'a', at: noon };
  const { items, more } = await consumersOf([write], store);
  assert.deepEqual([items.length, more], [1000, true]);
  const { items: all, more: further } = await consumersOf([{ ...write, undoneAt: noon + 1000 }], store);
  assert.deepEqual([all.length, further], [1000, false]);
});

const anyUse = fc.record({
  orderId: fc.nat(199).map((order) => `o${order}`),
  path: fc.constantFrom('order/one', 'order/two'),
  at: fc.nat(60).map((at) => noon + at),
  use: fc.constantFrom('read', 'write') as fc.Arbitrary<Use['use']>,
  object: fc.constantFrom('lot/1', 'lot/2', 'lot/3'),
});

/** `CONSUMERS_RUNS=1000` for a long run. */
const numRuns = Number(process.env['CONSUMERS_RUNS'] ?? 30);

test('F-151: the consumers of each write are those that a recount of all histories finds, among 200 orders', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyUse, { minLength: 50, maxLength: 150 }), fc.nat(60), async (uses, undone) => {
      const store = await usedStore(uses);
      const writes = uses.filter(({ use }) => use === 'write').slice(0, 20);
      for (const { orderId, object, at } of writes) {
        const undoneAt = Math.max(at, noon + undone);
        const isCut = (read: Use) =>
          uses.some(
            (other) => other.use === 'write' && other.object === object && other.orderId !== orderId && other.at > at && other.at < read.at,
          );
        const expected = uses.filter(
          (each) =>
            each.use === 'read' &&
            each.object === object &&
            each.orderId !== orderId &&
            each.at >= at &&
            each.at <= undoneAt &&
            !isCut(each),
        );
        const found = (await consumersOf([{ object, orderId, at, undoneAt }], store)).items;
        const named = (each: { readonly orderId: string; readonly path: string }) => `${each.orderId} ${each.path}`;
        assert.deepEqual(found.map(named).sort(), [...new Set(expected.map(named))].sort());
      }
    }),
    { numRuns },
  );
});
