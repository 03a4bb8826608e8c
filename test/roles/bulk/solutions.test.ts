import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operator, startBulk } from './support.ts';

const byHand = {
  instruction: { kind: 'skip', output: { chargeId: '{{chargeId}}', token: 'by hand' }, effect: 'done' },
  parameters: [{ name: 'chargeId', schema: { type: 'string' } }],
  reason: 'it has worked',
};

async function startWithSolution(body: object = byHand) {
  const shop = startBulk();
  assert.equal((await shop.ask('PUT', '/solutions/by-hand', { ...operator, body })).status, 201);
  const given = (parameters?: object, more = {}) => ({
    instruction: undefined,
    solutionId: 'by-hand',
    ...(parameters ? { parameters } : {}),
    ...more,
  });
  const stats = async () => (await shop.ask('GET', '/solutions/by-hand', operator)).json.stats;
  return { ...shop, given, stats };
}

describe('a bulk run with a solution', () => {
  test('F-155: gives each order a value of its own, and counts each order as a use', async () => {
    const { created, given, run, work, act, ordersInError, ask, stats } = await startWithSolution();
    const ids = await ordersInError(2);
    const id = await created(given({ chargeId: { $cel: '"ch-" + exception.orderId' } }));
    await work();
    await act(id, 'start');
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'done', applied: 2, kind: 'skip', solutionId: 'by-hand' });
    for (const orderId of ids) {
      const { json } = await ask('GET', `/orders/${orderId}`, operator);
      assert.equal(json.steps.find(({ path }: { path: string }) => path === 'order/charge').output.chargeId, `ch-${orderId}`);
      const { items } = (await ask('GET', `/tasks?state=resolved&orderId=${orderId}`, operator)).json;
      assert.equal(items[0].resolution.solutionId, 'by-hand');
    }
    assert.partialDeepStrictEqual(await stats(), { used: 2 });
  });

  test('F-155: is refused with one literal value for all orders, unless the call allows it with sameForAll', async () => {
    const { post, given } = await startWithSolution();
    const refused = async (parameters?: object, more = {}) => {
      const { status, json } = await post(given(parameters, more));
      return status === 202 ? [] : json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`);
    };
    assert.deepEqual(await refused({ chargeId: 'ch_1' }), ['/parameters/chargeId same-for-all']);
    assert.deepEqual(await refused({ chargeId: 'ch_1' }, { sameForAll: true }), []);
    assert.deepEqual(await refused({ chargeId: 'ch_1' }, { filter: { ids: ['ord_one'] } }), []);
    assert.deepEqual(await refused(), ['/parameters/chargeId required']);
    assert.deepEqual(await refused({ chargeId: { $cel: 'order.' } }), ['/parameters/chargeId invalid-expression']);
    assert.deepEqual(await refused({ chargeId: 'c' }, { solutionId: 'none' }), ['/solutionId no-such-solution']);
    assert.deepEqual(await refused({ chargeId: 'c' }, { instruction: { kind: 'resubmit' } }), [' custom']);
  });

  test('F-155: is refused with an expression for a place within a text', async () => {
    const instruction = { ...byHand.instruction, output: { chargeId: 'ch-{{chargeId}}', token: 't' } };
    const { post, given } = await startWithSolution({ ...byHand, instruction });
    const { json } = await post(given({ chargeId: { $cel: 'order.sku' } }));
    assert.deepEqual([json.errors[0].pointer, json.errors[0].code], ['/parameters/chargeId', 'not-computed']);
  });
});
