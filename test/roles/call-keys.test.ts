import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { InstanceLockedError } from '#ports/errors';
import { callKey, keyKeptMs } from '#roles/operator/idempotency';
import { acquireLease, type LockPolicy } from '#roles/scheduler/lease';
import { failed, lineOf, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

async function withCalls(context: TestContext, lockPolicy: LockPolicy = 'NoRetry') {
  const desk = openDesk(context, lineOf(stepsNamed('pick')), { variables: { INSTANCE_LOCKED_ACTION: lockPolicy } });
  const orderId = await submitted(desk);
  let calls = 0;
  /** Suspends the order when `number` is even, and resumes it when it is odd. */
  const give = async (key: string, number: number) => {
    const decision = { kind: number % 2 === 0 ? 'suspend' : 'resume', by: 'eva', reason: `${number}` } as const;
    const given = { id: `call-${++calls}`, key: callKey('acme', key, decision) };
    return (await desk.system.scheduler.instruct(orderId, decision, given)).outcome;
  };
  return { desk, orderId, give };
}

describe('a call with an idempotency key', () => {
  test('F-10: a repetition is recognized for a day, whatever the number of other calls in between, and changes nothing', async (context) => {
    const { desk, orderId, give } = await withCalls(context);
    for (let number = 0; number < 45; number++) assert.equal(await give(`key-${number}`, number), 'done');
    const { rev, blob } = await desk.state(orderId);
    await desk.clock.advance(keyKeptMs - 1);
    for (const number of [0, 7, 24, 44]) assert.equal(await give(`key-${number}`, number), 'replayed', `${number}`);
    assert.equal(await give('key-0', 1000), 'key-reused');
    assert.deepEqual([(await desk.state(orderId)).rev, Buffer.byteLength(blob) < 12_000], [rev, true]);

    await desk.clock.advance(1);
    assert.equal(await give('key-0', 1), 'done', 'after a day the key belongs to a new call');
    for (let number = 100; number < 125; number++) await give(`key-${number}`, number);
    await desk.clock.advance(keyKeptMs - 1);
    assert.equal(await give('key-0', 1), 'replayed', 'the new call is remembered for a day');
  });

  test('F-10: costs no extra read or write while an order has few such calls', async (context) => {
    const { desk, give } = await withCalls(context);
    for (let number = 0; number < 20; number++) await give(`key-${number}`, number);
    assert.equal(desk.database.prepare('SELECT count(*) AS count FROM documents').get()?.['count'], 0);
  });
});

test('F-10, L10: when a host pauses between its read and its answer, it gives the answer that a repetition of the call got from another host meanwhile', async (context) => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const desk = openDesk(context, lineOf(stepsNamed('pick'), { completeWithinSeconds: 60 }), {
    around: ({ store }) => ({
      store: {
        ...store,
        load: async (orderId) => {
          const read = await store.load(orderId);
          const happens = meanwhile;
          meanwhile = undefined;
          await happens?.();
          return read;
        },
      },
    }),
  });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), failed('Broken'));
  const decision = { kind: 'resubmit', by: 'eva', reason: 'mended' } as const;
  const resubmit = (id: string) =>
    desk.system.scheduler.instruct(orderId, decision, { id, key: callKey('acme', 'k', decision) }).then(({ outcome }) => outcome);
  meanwhile = async () => {
    assert.equal(await resubmit('second'), 'done');
    await desk.clock.advance(60_000);
  };
  assert.equal(await resubmit('first'), 'replayed');
});

for (const [policy, waits] of [
  ['NoRetry', 0],
  ['BasicRetry', 4_500],
  ['AggressiveRetry', 10_000],
] as const)
  test(`F-20: while another host holds the lease of an order, a call waits ${waits} ms in total under ${policy}`, async (context) => {
    const { desk, orderId, give } = await withCalls(context, policy);
    await acquireLease(desk.store, orderId, { holder: 'somebody', leaseMs: 60_000, clock: desk.clock });
    const began = desk.clock.now();
    let ended = 0;
    const call = give('key', 1).finally(() => (ended = desk.clock.now()));
    await assert.rejects(timePasses(desk.clock, call), InstanceLockedError);
    assert.equal(ended - began, waits);
  });
