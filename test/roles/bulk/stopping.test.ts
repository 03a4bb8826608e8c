import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operator, startBulk } from './support.ts';

describe('a bulk run that is stopped', () => {
  test('S35: gives an order no instruction when its process has stood still meanwhile', async () => {
    const { created, run, work, act, ordersInError, ask, store, running } = startBulk();
    const [orderId = ''] = await ordersInError(1);
    const id = await created({});
    await work();
    await act(id, 'start');
    let heads = 0;
    const head: typeof store.head = async (...given) => {
      if (heads++ === 0) {
        assert.equal((await act(id, 'stop')).json.state, 'stopped');
        await running.sleep(3_000);
      }
      return store.head(...given);
    };
    await work(10_000, { store: { ...store, head } });
    assert.ok(heads > 0);
    assert.partialDeepStrictEqual(await run(id), { state: 'stopped', applied: 0, failed: 0, left: 1 });
    const { json } = await ask('GET', `/orders/${orderId}/history`, operator);
    assert.equal(json.items.filter(({ type }: { type: string }) => type === 'InstructionGiven').length, 0);
  });

  test('S36: counts what its check has refused, although the process of the check has died', async () => {
    const { created, run, items, work, act, store, running } = startBulk();
    const id = await created({ filter: { ids: ['ord_nobody', 'ord_none'] } });
    let refused = 0;
    const putDocument: typeof store.putDocument = async (document, ...given) => {
      if (document.id.startsWith('OUT#') && refused++ === 0) assert.equal((await act(id, 'stop')).json.state, 'stopped');
      else if (document.id === 'RUN' && refused > 0) throw new Error('killed');
      return store.putDocument(document, ...given);
    };
    await work(10_000, { store: { ...store, putDocument }, hostId: 'host-dying' }).catch(() => undefined);
    await running.sleep(20_000);
    await work();
    assert.equal((await items(id, '&outcome=infeasible')).length, 2);
    assert.partialDeepStrictEqual(await run(id), { state: 'stopped', count: 2, feasible: 0, infeasible: 2, left: 0 });
  });
});
