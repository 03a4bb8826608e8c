import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { idsOf, noon, put } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';

test('S23: a filter without an index examines 1,000 orders a page, and the next page continues there', async (context) => {
  const { store, database } = openEmbedded(':memory:', { clock: manualClock() });
  context.after(() => database.close());
  await Promise.all(
    listOf(1001, (index) => put(store, `o${index}`, index === 0 ? { outcome: 'completed' } : {}, { submittedAt: noon + index })),
  );
  const first = await store.list({ outcome: 'completed' }, undefined, 20);
  assert.deepEqual([idsOf(first), first.next?.orderId], [[], 'o1']);
  const second = await store.list({ outcome: 'completed' }, first.next, 20);
  assert.deepEqual([idsOf(second), second.next], [['o0'], undefined]);
});
