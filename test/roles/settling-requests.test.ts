import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { PermanentFailure, TransientFailure } from 'redress';
import * as z from 'zod';
import type { Reply, Request } from '#ports/messages';
import { countIn, type LineOptions, lineOf, openDesk, submitted } from './support.ts';

/** Asks an agent whether something was done: its answers, and how often the operation ran. */
async function settling(context: TestContext, more: NonNullable<LineOptions['operation']>, change: Partial<Request> = {}) {
  let ran = 0;
  const pay = () => ({ id: `ran ${++ran}` });
  const desk = openDesk(context, lineOf({ pay }, { operation: { output: z.object({ id: z.string() }), ...more } }));
  await submitted(desk);
  await desk.send('worker-requests', { ...(await desk.request()), confirming: true, ...change });
  assert.equal(await desk.deliver('worker-requests'), 0);
  const replies = desk.messages('worker-replies') as unknown as readonly Reply[];
  return { results: replies.map(({ result }) => result), ran, desk };
}

const faultsOf = async (...asking: Parameters<typeof settling>) => {
  const { results, ran } = await settling(...asking);
  assert.equal(ran, 0, 'nothing is done to find something out');
  return results.map(
    (result) => result.status === 'failed' && [result.fault.type, result.fault.permanent, result.fault.outcomeUnknown ?? false],
  );
};

describe('an agent that is asked whether something was done', () => {
  test('S11 looks it up by the key, and what is found was done', async (context) => {
    const { results, ran } = await settling(context, { lookup: (key) => ({ id: key }) }, { idempotencyKey: 'k-1' });
    assert.deepEqual([results, ran], [[{ status: 'succeeded', output: { id: 'k-1' } }], 0]);
  });

  test('S11 says for certain that it was not done when nothing is found', async (context) => {
    assert.deepEqual(await faultsOf(context, { lookup: async () => undefined }), [['NotDone', true, false]]);
  });

  test('F-37 looks again after a failure that may pass', async (context) => {
    let looked = 0;
    const lookup = () => (++looked < 3 ? Promise.reject(new TransientFailure('busy')) : { id: 'c-1' });
    assert.deepEqual((await settling(context, { lookup })).results, [{ status: 'succeeded', output: { id: 'c-1' } }]);
  });

  test('F-39 is silent when nothing is heard before its time is over', async (context) => {
    assert.deepEqual((await settling(context, { lookup: () => new Promise<undefined>(() => {}) })).results, []);
  });

  for (const [what, lookup, type] of [
    ['the service refuses to tell', () => Promise.reject(new PermanentFailure('Forbidden', 'not for you')), 'Forbidden'],
    ['what it tells makes no sense', () => ({ id: 7 }), 'InvalidReply'],
  ] as const)
    test(`S11 never says that it was not done because ${what}`, async (context) => {
      assert.deepEqual(await faultsOf(context, { lookup }), [[type, true, true]]);
    });

  test('S11 needs no input for that: one that it no longer takes is as good', async (context) => {
    const { results } = await settling(context, { lookup: () => ({ id: 'c-1' }) }, { input: null });
    assert.equal(results[0]?.status, 'succeeded');
  });

  test('S11 does not say that it was not done because it no longer knows the operation, or takes the input', async (context) => {
    assert.deepEqual(await faultsOf(context, {}, { operation: 'burn' }), [['RequestRefused', false, true]]);
    assert.deepEqual(await faultsOf(context, {}, { input: null }), [['RequestRefused', true, true]]);
  });

  test('S11 runs what has no look-up under the same key, as the service does nothing anew', async (context) => {
    assert.deepEqual((await settling(context, {})).results, [{ status: 'succeeded', output: { id: 'ran 1' } }]);
  });

  test('X-20 does not run what may be asked for only once, and says that nobody knows', async (context) => {
    assert.deepEqual(await faultsOf(context, { atMostOnce: true }), [['OutcomeUnknown', true, true]]);
  });

  test('X-20 looks up what may be asked for only once, and notes nothing', async (context) => {
    const { results, ran, desk } = await settling(context, { atMostOnce: true, lookup: () => ({ id: 'c-1' }) });
    assert.deepEqual([results[0]?.status, ran, countIn(desk, 'intents')], ['succeeded', 0, 0]);
  });
});
