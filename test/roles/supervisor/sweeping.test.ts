import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { collections } from '#ports/documents';
import { sweepThrough } from '#roles/supervisor/sweep';
import { alone, next, put } from '../../support/records.ts';
import { listOf } from '../../support/workflows.ts';

const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
const orders = listOf(7, (index) => `o${index}`);

/** Seven orders; the sweep checks its time limit after every second one. */
async function opened(context: TestContext) {
  const clock = manualClock();
  const { store, database } = openEmbedded(':memory:', { clock });
  context.after(() => database.close());
  for (const orderId of orders) await put(store, orderId);
  const seen: string[] = [];
  const sweep = (more: { readonly stopping?: AbortSignal; readonly then?: () => Promise<void> } = {}) =>
    sweepThrough({ store, clock, lookedAtOnce: 2, stopping: more.stopping }, async (ids) => {
      seen.push(...ids);
      await more.then?.();
    });
  return { clock, store, seen, sweep, place: () => store.document(collections.sweep, 'PLACE') };
}

test('F-57: the next sweep continues where an interrupted sweep stopped, and reaches the end', async (context) => {
  const { seen, sweep } = await opened(context);
  const stopping = AbortSignal.abort();
  for (let run = 0; run < 3; run++) await sweep({ stopping });
  assert.deepEqual(seen, orders.slice(0, 6));
  await sweep({ stopping });
  assert.deepEqual(seen, orders);
  await sweep();
  assert.deepEqual(seen, [...orders, ...orders], 'then the sweep starts again');
});

test('F-57: a sweep whose process crashes continues from its position of a minute before', async (context) => {
  const { clock, seen, sweep } = await opened(context);
  const then = async () => {
    if (seen.length === 6) throw new Error('it died');
    await clock.advance(60_000);
  };
  await assert.rejects(sweep({ then }));
  assert.deepEqual(seen.splice(0), orders.slice(0, 6));
  await sweep();
  assert.deepEqual(seen, orders.slice(4));
});

test('F-57: a short sweep that is not interrupted writes nothing', async (context) => {
  const { seen, sweep, place } = await opened(context);
  await sweep();
  assert.deepEqual([seen, await place()], [orders, undefined]);
});

test('F-57, S22: a sweep skips finished orders, because their number keeps growing', async (context) => {
  const { store, seen, sweep } = await opened(context);
  for (const orderId of orders.slice(0, 5)) {
    const { state } = (await store.load(orderId)) ?? assert.fail();
    await store.update(next(state, finished), state, alone);
  }
  await sweep();
  assert.deepEqual(seen, ['o5', 'o6']);
});
