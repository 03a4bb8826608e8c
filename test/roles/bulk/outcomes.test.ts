import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startBulk } from './support.ts';

test('S36: a bulk run does not treat an order that its check has refused', async () => {
  const { created, run, work, store } = startBulk();
  const id = await created({ filter: { ids: ['ord_nobody'] }, start: true });
  const looksIn: string[] = [];
  const head: typeof store.head = async (orderId) => {
    looksIn.push((await run(id)).state);
    return store.head(orderId);
  };
  await work(10_000, { store: { ...store, head } });
  assert.partialDeepStrictEqual(await run(id), { state: 'done', infeasible: 1, movedOn: 0, left: 0 });
  assert.deepEqual([...new Set(looksIn)], ['preparing'], 'nobody looks at the order while the run is running');
});
