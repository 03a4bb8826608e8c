import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { issuer, startApi } from './support.ts';

const otto = await issuer.sign({ role: 'operator', subject: 'otto' });
const body = { reason: 'the disk was bad' };
const dryRun = { ...body, dryRun: true };
const lostState = `UPDATE states SET blob = substr(blob, 1, instr(blob, '"state":')) || 'x'`;
const lostLines = 'UPDATE states SET blob = substr(blob, 1, 200)';
const alteredLine = `UPDATE states SET blob = replace(blob, '"path":"order/reserve","attemptId":"1#1.1"', '"path":"order/reserve","attemptId":"7#1.1"')`;

/** An order whose payment was requested, or is in Error after it was declined. */
async function withOrder(processState: 'Processing' | 'Error') {
  const system = startApi();
  const orderId = processState === 'Error' ? await system.orderInError('k') : await system.submitOrder('k');
  const rebuild = (asked: object, options: object = { as: 'operator' }) =>
    system.ask('POST', `/orders/${orderId}/rebuild`, { ...options, body: asked });
  const damage = (statement: string) => void system.database.prepare(statement).run();
  const wake = () => system.scheduler.accept(orderId, [{ type: 'wake-up', id: `w-${system.clock.now()}` }], []);
  const order = async () => (await system.ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  return { ...system, orderId, rebuild, damage, wake, order };
}

describe('F-160: an operator who has an order rebuilt', () => {
  test('gets its state back from the journal, and the fault for which it was in Error', async () => {
    const { rebuild, damage, wake, order, ask } = await withOrder('Error');
    const before = await order();
    damage(lostState);
    const answer = await rebuild(body);
    assert.partialDeepStrictEqual(answer.json, { processState: 'Error', rebuilt: true, readable: false, pages: 0, difference: null });
    await wake();
    const after = await order();
    assert.deepEqual([after.fault, after.steps], [before.fault, before.steps]);
    const { items } = (await ask('GET', '/audit?kind=instruction', { as: 'admin' })).json;
    assert.partialDeepStrictEqual(items, [{ action: 'rebuild', by: 'olga', reason: body.reason }]);
  });

  test('a rebuilt order continues if it was in Error only because its state could not be read', async () => {
    const { rebuild, damage, wake, order, database, answer } = await withOrder('Processing');
    const blob = String(database.prepare('SELECT blob FROM states').get()?.['blob']);
    damage(lostLines);
    await wake();
    assert.equal((await order()).fault.type, 'RecordUnreadable');
    // A backup of the item brings its journal back, but not its state.
    database.prepare('UPDATE states SET blob = ?').run(blob.replace('"state":{', '"state":['));
    assert.partialDeepStrictEqual((await rebuild(body)).json, { processState: 'Processing', rebuilt: true });
    await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
    const { fault, steps, taskId } = await order();
    assert.deepEqual([fault, steps[0].result, taskId ?? null], [null, 'Succeeded', null]);
  });

  test('learns where a damaged journal ends, and nothing is changed', async () => {
    const { rebuild, damage, stored } = await withOrder('Error');
    damage(lostLines);
    const before = await stored();
    const looked = await rebuild(dryRun);
    assert.partialDeepStrictEqual(looked.json, { rebuilt: false, readable: false });
    assert.match(looked.json.difference, /^The journal is readable up to line \d+\. The lost state held the lines after it\.$/);
    const refused = await rebuild(body);
    assert.deepEqual([refused.status, refused.json.code], [409, 'infeasible']);
    assert.match(refused.json.errors[0].detail, /compensate|terminate/);
    assert.deepEqual(await stored(), before);
  });

  test('learns which line of the journal differs from what its events lead to', async () => {
    const { rebuild, damage } = await withOrder('Error');
    damage(alteredLine);
    assert.match(
      (await rebuild(dryRun)).json.difference,
      /^Line \d+ of the journal \(\w+\) does not follow from the lines before it\. Expected .*found/,
    );
  });

  test('is refused if the state agrees with the journal, and learns that from a dry run', async () => {
    const { rebuild, stored, orderId, ask } = await withOrder('Error');
    const before = await stored();
    const refused = await rebuild(body);
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict']);
    assert.partialDeepStrictEqual((await rebuild(dryRun)).json, { orderId, rebuilt: false, readable: true, difference: null });
    assert.equal((await ask('POST', '/orders/ord_none/rebuild', { as: 'operator', body })).status, 404);
    assert.deepEqual(await stored(), before);
  });

  test('F-15: is refused while another person has locked the order, but not because of their own lock', async () => {
    const { rebuild, damage, orderId, ask } = await withOrder('Error');
    await ask('POST', `/orders/${orderId}/lock`, { as: 'operator', body: { seconds: 60, reason: 'I look into it' } });
    damage(lostState);
    const refused = await rebuild(body, { token: otto });
    assert.deepEqual([refused.status, refused.json.code, refused.json.heldBy], [409, 'locked', 'olga']);
    assert.equal((await rebuild(dryRun, { token: otto })).status, 200);
    assert.equal((await rebuild(body)).status, 200);
  });

  test('must give a reason, and may give no other fields', async () => {
    const { rebuild } = await withOrder('Error');
    for (const [given, pointer] of [
      [{}, '/reason'],
      [{ reason: '' }, '/reason'],
      [{ ...body, dryRun: 'yes' }, '/dryRun'],
      [{ ...body, force: true }, '/force'],
    ] as const) {
      const { status, json } = await rebuild(given);
      assert.deepEqual([status, json.errors[0].pointer], [422, pointer]);
    }
  });
});
