import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTelemetry } from '#ports/telemetry';
import { operator, startBulk } from './support.ts';

describe('a bulk run that is stopped', () => {
  test('S35: gives no further instruction, even if its process has paused during the stop', async () => {
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

  test('F-158: can be named by a new run as the one that it continues, and a run that does not exist cannot be named', async () => {
    const { created, post, run, work, act, ordersInError, ask } = startBulk();
    const ids = await ordersInError(2);
    const first = await created({});
    await work();
    await act(first, 'stop');
    const next = await created({ filter: { ids }, continues: first });
    assert.equal((await run(next)).continues, first);
    assert.equal('continues' in (await run(first)), false);
    const listed = (await ask('GET', '/bulk', operator)).json.items as readonly { readonly id: string; readonly continues?: string }[];
    assert.equal(listed.find(({ id }) => id === next)?.continues, first);
    const { status, json } = await post({ continues: 'blk_none' });
    assert.deepEqual([status, json.errors[0].pointer, json.errors[0].code], [422, '/continues', 'no-such-run']);
  });

  test('S36: counts the orders that its check has refused, even if the process of the check paused or crashed', async () => {
    for (const end of ['stood still', 'died before', 'died after']) {
      const { created, run, items, work, act, store, running } = startBulk();
      const id = await created({ filter: { ids: ['ord_nobody', 'ord_none'] } });
      let kept = 0;
      const putDocument: typeof store.putDocument = async (document, loadedRev, beside = []) => {
        if (kept > 0 || beside.some((each) => each.id.startsWith('OUT#'))) kept++;
        if (kept === 1) assert.equal((await act(id, 'stop')).json.state, 'stopped');
        if (kept > 0 && end === 'died before') throw new Error('killed');
        if (kept > 2 && end === 'died after') throw new Error('killed');
        if (kept === 1 && end === 'stood still') await running.sleep(20_000).then(() => work());
        return store.putDocument(document, loadedRev, beside);
      };
      await work(10_000, { store: { ...store, putDocument }, hostId: 'host-dying' }).catch(() => undefined);
      await running.sleep(20_000);
      await work();
      const infeasible = (await items(id, '&outcome=infeasible')).length;
      assert.equal(infeasible, end === 'died after' ? 2 : 0, end);
      assert.partialDeepStrictEqual(await run(id), { state: 'stopped', count: 2, feasible: 0, infeasible, left: 0 }, end);
    }
  });

  test('S36: counts the outcomes that a crashed process left uncounted, even if the next process has no time left at first', async () => {
    const { created, run, work, act, ordersInError, store, running } = startBulk();
    await ordersInError(1);
    const id = await created({});
    await work();
    await act(id, 'start');
    let isDead = false;
    const documents: typeof store.putDocument = async (...given) => {
      if (isDead || (await store.document(`BULK#${id}`, `OUT#${(await ordersOf(id, store))[0]}`))) isDead = true;
      if (isDead) throw new Error('killed');
      return store.putDocument(...given);
    };
    await work(10_000, { store: { ...store, putDocument: documents }, hostId: 'host-dying' }).catch(() => undefined);
    assert.equal((await act(id, 'stop')).json.applied, 0, 'the process has died before it counted');
    await running.sleep(20_000);
    await work(0);
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'stopped', applied: 1, left: 0 });
  });

  test('S36: stores no refusal of a check from a process that another process has replaced', async () => {
    const { created, run, items, work, act, store, running } = startBulk();
    const id = await created({ filter: { ids: ['ord_nobody'] } });
    let heads = 0;
    const head: typeof store.head = async (...given) => {
      // The first read freezes the set, the second one checks the order.
      if (++heads === 2) {
        await act(id, 'stop');
        await running.sleep(20_000);
        await work();
      }
      return store.head(...given);
    };
    await work(10_000, { store: { ...store, head }, hostId: 'host-frozen' });
    assert.ok(heads >= 2);
    const { infeasible } = await run(id);
    assert.equal(infeasible, (await items(id, '&outcome=infeasible')).length);
  });
});

test('X-9: a bulk run counts an order as failed, and logs why, if the store does not answer for that order in five tries', async () => {
  const { created, run, work, act, ordersInError, store } = startBulk();
  const [orderId = ''] = await ordersInError(1);
  const id = await created({});
  await work();
  await act(id, 'start');
  const lines: string[] = [];
  const telemetry = createTelemetry({ level: 'warn', write: (line) => void lines.push(line) });
  const head = (): Promise<never> => Promise.reject(new Error('The table is away.'));
  await work(10_000, { store: { ...store, head }, telemetry });
  assert.partialDeepStrictEqual(await run(id), { state: 'done', applied: 0, failed: 1, left: 0 });
  const said = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'cannot treat an order of a bulk run');
  assert.equal(said.length, 5);
  for (const line of said) assert.partialDeepStrictEqual(line, { level: 'warn', bulkId: id, orderId });
  assert.match(lines.join(''), /The table is away\./);
});

const ordersOf = async (id: string, { documents }: ReturnType<typeof startBulk>['store']): Promise<readonly string[]> => {
  const found = await documents(`BULK#${id}`, 'SET#', 1);
  return ((found[0]?.content['orders'] ?? []) as readonly (readonly [string, number, number])[]).map(([orderId]) => orderId);
};
