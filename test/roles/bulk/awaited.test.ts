import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as later } from 'node:timers/promises';
import { Pace } from '#roles/bulk/pace';
import { instrumented } from '#testing/world/instrumented-ports';
import { startBulk } from './support.ts';

describe('a process that works on bulk runs', () => {
  test('X-17: reports an error only after its calls about all orders of its runs have ended', async () => {
    const { created, work, run, ordersInError, store } = startBulk();
    await ordersInError(3);
    const id = await created({ start: true });
    let pending = 0;
    let looks = 0;
    const slow = instrumented('store', store, async ({ site, apply }) => {
      pending += 1;
      await later();
      await later();
      pending -= 1;
      if (site === 'store.listed' && looks++ > 0) throw new Error('The index is not available.');
      return apply();
    });
    await assert.rejects(work(10_000, { store: slow }), /index/);
    assert.equal(pending, 0);
    assert.equal((await run(id)).state, 'done', 'the run goes on, although nobody can look for others');
  });

  test('X-17: begins no more orders after an error, and awaits those that it has begun', async () => {
    let sleeps = 0;
    const pace = new Pace({ now: () => 0, sleep: async () => void (sleeps += 1) }, 100);
    const ended: number[] = [];
    const orders = Array.from({ length: 40 }, (_, index) => index);
    const work = async (order: number): Promise<void> => {
      for (let turns = 0; turns < (order === 0 ? 1 : 5); turns++) await later();
      ended.push(order);
      if (order === 0) throw new Error('The first one fails.');
    };
    await assert.rejects(pace.each(orders, work), /first/);
    assert.deepEqual(
      ended.toSorted((one, other) => one - other),
      orders.slice(0, 16),
    );
  });
});
