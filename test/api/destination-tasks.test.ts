import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDeadDestinations } from '#roles/notifier/dead-destinations';
import { deadDelivery } from '../support/dead-delivery.ts';
import { startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const acknowledge = { instruction: { kind: 'acknowledge' }, reason: 'the room is gone' };

/** The task of a destination that gets no messages. */
async function unreachable() {
  const shop = startApi();
  const { store, clock, ask } = shop;
  const destinations = createDeadDestinations({ store, clock, dueMs: 3_600_000 });
  await destinations.open(deadDelivery);
  const { id } = (await ask('GET', '/tasks', operator)).json.items[0];
  const resolve = (body: object, more: object = {}) => ask('POST', `/tasks/${id}/resolve`, { ...operator, body, ...more });
  const task = async () => (await ask('GET', `/tasks/${id}`, operator)).json;
  return { ...shop, destinations, id: id as string, resolve, task };
}

describe('F-153: the task of a destination that gets no messages', () => {
  test('is resolved with acknowledge, without an ETag, once, and the audit has it', async () => {
    const { resolve, task, ask, id, destinations } = await unreachable();
    const headers = { 'idempotency-key': 'a' };
    const first = await resolve(acknowledge, { headers });
    assert.equal(first.status, 202, first.text);
    const resolution = { by: 'olga', reason: 'the room is gone', instruction: { kind: 'acknowledge' } };
    assert.partialDeepStrictEqual(
      [first.json, await task()],
      [
        { id, state: 'resolved', resolution },
        { state: 'resolved', resolution },
      ],
    );
    const again = await resolve(acknowledge, { headers });
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
    const second = await resolve(acknowledge);
    assert.deepEqual([second.status, second.json.errors[0].detail], [409, 'olga has resolved the task, so it needs nobody any more.']);
    assert.equal((await resolve({ ...acknowledge, reason: 'other' }, { headers })).status, 422);
    const { items } = (await ask('GET', '/audit?kind=task', { as: 'admin' })).json;
    assert.partialDeepStrictEqual(items, [{ target: id, action: 'resolve', reason: 'the room is gone', by: 'olga' }]);
    await destinations.arrived(deadDelivery.destination);
    assert.equal((await task()).resolution.by, 'olga');
  });

  test('is resolved by no other instruction, and the refusal says what to do; a check changes nothing', async () => {
    const { resolve, task, ask } = await unreachable();
    for (const body of [
      { instruction: { kind: 'resubmit' }, reason: 'x' },
      { solutionId: 's', reason: 'x' },
      { ...acknowledge, saveAs: { name: 'rooms' } },
    ]) {
      const { status, json } = await resolve(body);
      assert.deepEqual([status, json.code, json.errors[0].code], [409, 'infeasible', 'nothing-to-do']);
      assert.match(json.errors[0].detail, /PUT \/groups\/\{name\}; then resolve the task with acknowledge/);
      const check = await resolve({ ...body, dryRun: true });
      assert.deepEqual([check.status, check.json.feasible, check.json.refusals[0].code], [200, false, 'nothing-to-do']);
    }
    assert.deepEqual((await resolve({ ...acknowledge, dryRun: true })).json.feasible, true);
    const { id } = await task();
    await ask('POST', `/tasks/${id}/assign`, { ...operator, body: { assignee: 'ann' } });
    const others = await resolve(acknowledge);
    assert.deepEqual([others.status, (await task()).state], [409, 'claimed']);
  });
});
