import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { PermanentFailure, TransientFailure } from 'redress';
import * as z from 'zod';
import type { Reply, Request } from '#ports/messages';
import { countIn, type LineOptions, lineOf, openDesk, submitted } from './support.ts';

/** Asks an agent to confirm an outcome. Returns its replies and the number of runs. */
async function confirmation(context: TestContext, more: NonNullable<LineOptions['operation']>, change: Partial<Request> = {}) {
  let ran = 0;
  const pay = () => ({ id: `ran ${++ran}` });
  const desk = openDesk(context, lineOf({ pay }, { operation: { output: z.object({ id: z.string() }), ...more } }));
  await submitted(desk);
  await desk.send('worker-requests', { ...(await desk.request()), confirming: true, ...change });
  assert.equal(await desk.deliver('worker-requests'), 0);
  const replies = desk.messages('worker-replies') as unknown as readonly Reply[];
  return { results: replies.map(({ result }) => result), ran, desk };
}

const faultsOf = async (...options: Parameters<typeof confirmation>) => {
  const { results, ran } = await confirmation(...options);
  assert.equal(ran, 0, 'a confirmation has no effect');
  return results.map(
    (result) => result.status === 'failed' && [result.fault.type, result.fault.permanent, result.fault.outcomeUnknown ?? false],
  );
};

describe('an agent that confirms an effect', () => {
  test('S11: looks the effect up by its idempotency key, and replies that it was made if the lookup finds it', async (context) => {
    const { results, ran } = await confirmation(context, { lookup: (key) => ({ id: key }) }, { idempotencyKey: 'k-1' });
    assert.deepEqual([results, ran], [[{ status: 'succeeded', output: { id: 'k-1' } }], 0]);
  });

  test('S11: replies definitely that the effect was not made when the lookup finds nothing', async (context) => {
    assert.deepEqual(await faultsOf(context, { lookup: async () => undefined }), [['NotDone', true, false]]);
  });

  test('F-37: looks again after a transient failure', async (context) => {
    let looked = 0;
    const lookup = () => (++looked < 3 ? Promise.reject(new TransientFailure('busy')) : { id: 'c-1' });
    assert.deepEqual((await confirmation(context, { lookup })).results, [{ status: 'succeeded', output: { id: 'c-1' } }]);
  });

  test('F-39: sends no reply when the lookup does not answer in time', async (context) => {
    assert.deepEqual((await confirmation(context, { lookup: () => new Promise<undefined>(() => {}) })).results, []);
  });

  for (const [what, lookup, type] of [
    ['the service refuses the lookup', () => Promise.reject(new PermanentFailure('Forbidden', 'not for you')), 'Forbidden'],
    ['the lookup returns an invalid output', () => ({ id: 7 }), 'InvalidReply'],
  ] as const)
    test(`S11: does not reply that the effect does not exist if ${what}`, async (context) => {
      assert.deepEqual(await faultsOf(context, { lookup }), [[type, true, true]]);
    });

  test('S11: needs no valid input for a lookup', async (context) => {
    const { results } = await confirmation(context, { lookup: () => ({ id: 'c-1' }) }, { input: null });
    assert.equal(results[0]?.status, 'succeeded');
  });

  test('S11: does not take an unknown operation or a refused input for a proof that the effect was not made', async (context) => {
    assert.deepEqual(await faultsOf(context, {}, { operation: 'burn' }), [['RequestRefused', false, true]]);
    assert.deepEqual(await faultsOf(context, {}, { input: null }), [['RequestRefused', true, true]]);
  });

  test('S11: runs an operation without a lookup under the same key, because the service then repeats nothing', async (context) => {
    assert.deepEqual((await confirmation(context, {})).results, [{ status: 'succeeded', output: { id: 'ran 1' } }]);
  });

  test('X-20: does not run an at-most-once operation, and replies that the outcome is unknown', async (context) => {
    assert.deepEqual(await faultsOf(context, { atMostOnce: true }), [['OutcomeUnknown', true, true]]);
  });

  test('X-20: looks up an at-most-once operation without recording an intent', async (context) => {
    const { results, ran, desk } = await confirmation(context, { atMostOnce: true, lookup: () => ({ id: 'c-1' }) });
    assert.deepEqual([results[0]?.status, ran, countIn(desk, 'intents')], ['succeeded', 0, 0]);
  });
});
