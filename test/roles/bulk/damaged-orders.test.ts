import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startBulk } from './support.ts';

/** Applies a resubmission to one order, and damages the state of that order before anybody can tell whether it has helped. */
async function startDamaged() {
  const bulk = startBulk();
  const [orderId = ''] = await bulk.ordersInError(1);
  const id = await bulk.created({ start: true });
  await bulk.work();
  const statement = bulk.database.prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)');
  const damage = () => void statement.run('{"state":{"pha', orderId);
  damage();
  const terminate = async () => {
    const { outcome } = await bulk.scheduler.instruct(orderId, { kind: 'terminate', by: 'olga', reason: 'lost' }, { id: 'i-1' });
    assert.equal(outcome, 'done');
  };
  /** Has the runner look at the order again, which it does less and less often. */
  const looked = async () => {
    await bulk.running.sleep(400_000);
    await bulk.work();
    return (await bulk.run(id)).verified;
  };
  return { damage, terminate, looked };
}

const failedOtherwise = { running: 0, passed: 0, failedAgain: 0, failedOtherwise: 1 };

describe('a bulk run with an order whose state is damaged', () => {
  test('S36: waits for the verdict as long as the order has not ended', async () => {
    const { looked } = await startDamaged();
    assert.deepEqual(await looked(), { running: 1, passed: 0, failedAgain: 0, failedOtherwise: 0 });
  });

  test('S36: judges a terminated order by its end, because its journal has lost the instruction', async () => {
    const { looked, terminate } = await startDamaged();
    await terminate();
    assert.deepEqual(await looked(), failedOtherwise);
  });

  test('S36: judges an order that has ended and cannot be read by its end', async () => {
    const { looked, terminate, damage } = await startDamaged();
    await terminate();
    damage();
    assert.deepEqual(await looked(), failedOtherwise);
  });
});
