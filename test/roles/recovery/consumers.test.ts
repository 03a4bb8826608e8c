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
  for (const [seq, { orderId, path, requestedAt, at: closedAt, use, object }] of uses.entries()) {
    const names = { reads: use === 'read' ? [object] : [], writes: use === 'write' ? [object] : [] };
    const times = { ...(requestedAt === undefined ? {} : { requestedAt }), closedAt };
    await storeObjects({ id: `${seq}`, kind: 'objects', orderId, path, ...times, seq, ...names }, store);
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
/** Returns the consumers of a write that was at work for this long, and closed at noon. */
const consumersAfter = async (uses: readonly Use[], undoneAt?: number, openMs = 0) => {
  const undo = undoneAt === undefined ? {} : { undoneAt: noon + undoneAt };
  const write = { object: 'lot/4711', orderId: 'a', requestedAt: noon - openMs, at: noon, ...undo };
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

/** A use by a step that was at work from one time to the other. */
const open = (orderId: string, use: Use['use'], from: number, at: number): Use => ({ ...lot(orderId, use, at), requestedAt: noon + from });

test('F-151: a step that was at work when the object was written or the write was undone may have read it, and is a consumer', async () => {
  assert.deepEqual(await consumersAfter([open('b', 'read', 1, 9)], 5), ['b']);
  assert.deepEqual(await consumersAfter([open('b', 'read', 6, 9)], 5), []);
  assert.deepEqual(await consumersAfter([lot('b', 'read', -3)], 5, 4), ['b']);
  assert.deepEqual(await consumersAfter([lot('b', 'read', -5)], 5, 4), []);
  const hourMs = 3_600_000;
  assert.deepEqual(await consumersAfter([open('b', 'read', 1, 5 + hourMs), open('c', 'read', 1, 6 + hourMs)], 5), ['b']);
});

test('F-151: a later write hides an earlier write of another order if it was requested after the end of the earlier write, and only from steps that were requested after the end of the later write', async () => {
  const reads = [open('b', 'read', 3, 9), open('c', 'read', 5, 9)];
  assert.deepEqual(await consumersAfter([...reads, open('x', 'write', 1, 4)]), ['b']);
  assert.deepEqual(await consumersAfter([...reads, open('x', 'write', 0, 4)]), ['b', 'c']);
});

test('F-151: the answer lists 1,000 of 1,001 consumers, and says that there are more', async () => {
  const reads = listOf(1001, (index) => lot(`o${index}`, 'read', index + 1));
  const store = await usedStore([lot('a', 'write', 0), ...reads]);
  const write = { object: 'lot/4711', orderId: 'a', requestedAt: noon, at: noon };
  const { items, more } = await consumersOf([write], store);
  assert.deepEqual([items.length, more], [1000, true]);
  const { items: all, more: further } = await consumersOf([{ ...write, undoneAt: noon + 1000 }], store);
  assert.deepEqual([all.length, further], [1000, false]);
});

const anyUse = fc
  .record({
    orderId: fc.nat(199).map((order) => `o${order}`),
    path: fc.constantFrom('order/one', 'order/two'),
    at: fc.nat(60).map((at) => noon + at),
    openMs: fc.constantFrom(0, 0, 3, 20),
    use: fc.constantFrom('read', 'write') as fc.Arbitrary<Use['use']>,
    object: fc.constantFrom('lot/1', 'lot/2', 'lot/3'),
  })
  .map(({ openMs, ...use }) => ({ ...use, requestedAt: use.at - openMs }));

/** `CONSUMERS_RUNS=1000` for a long run. */
const numRuns = Number(process.env['CONSUMERS_RUNS'] ?? 30);

test('F-151: the consumers of each write are those that a recount of all histories finds, among 200 orders', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyUse, { minLength: 50, maxLength: 150 }), fc.nat(60), async (uses, undone) => {
      const store = await usedStore(uses);
      const writes = uses.filter(({ use }) => use === 'write').slice(0, 20);
      for (const { orderId, object, requestedAt, at } of writes) {
        const undoneAt = Math.max(at, noon + undone);
        const isCut = (read: (typeof uses)[number]) =>
          uses.some(
            (other) =>
              other.use === 'write' &&
              other.object === object &&
              other.orderId !== orderId &&
              other.requestedAt > at &&
              other.at < read.requestedAt,
          );
        const expected = uses.filter(
          (each) =>
            each.use === 'read' &&
            each.object === object &&
            each.orderId !== orderId &&
            each.at >= requestedAt &&
            each.requestedAt <= undoneAt &&
            !isCut(each),
        );
        const found = (await consumersOf([{ object, orderId, requestedAt, at, undoneAt }], store)).items;
        const named = (each: { readonly orderId: string; readonly path: string }) => `${each.orderId} ${each.path}`;
        assert.deepEqual(found.map(named).sort(), [...new Set(expected.map(named))].sort());
      }
    }),
    { numRuns },
  );
});
