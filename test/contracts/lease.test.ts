import assert from 'node:assert/strict';
import test from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { type ManualClock, manualClock } from '#ports/clock';
import { InstanceLockedError, SetupError } from '#ports/errors';
import type { Store } from '#ports/store';
import {
  acquireLease,
  defaultLockRetry,
  isHeldByOther,
  type Lease,
  type LockPolicy,
  lockPolicies,
  lockPolicyAdvice,
} from '#roles/scheduler/lease';
import { readConfig } from '#runtime/config';
import { orderRecord, stateRecord } from '../support/records.ts';

const leaseMs = 60_000;
const alone = { messages: [], announcements: [] };
const retry = { ...defaultLockRetry, attemptsMax: 5, intervalMs: 1000, intervalMaxMs: 4000 };

interface Host {
  readonly store: Store;
  readonly clock: ManualClock;
  /** Takes the lease of o1, and records the time of each attempt. */
  take(holder: string, options?: { policy?: LockPolicy; retry?: typeof retry; attempts?: number[] }): Promise<Lease>;
}

async function openHost(): Promise<Host> {
  const clock = manualClock();
  const { store } = openEmbedded(':memory:', { clock });
  await store.create(orderRecord('o1'), stateRecord('o1'), alone);
  const start = clock.now();
  return {
    store,
    clock,
    take: async (holder, { attempts = [], ...options } = {}) =>
      (await acquireLease(store, 'o1', {
        holder,
        leaseMs,
        clock,
        onAttempt: () => attempts.push(clock.now() - start),
        retry,
        ...options,
      })) ?? assert.fail(),
  };
}

/** Lets all the waits of a policy pass: none is longer than the policy's whole sequence. */
const passWaits = (clock: ManualClock): Promise<void> => clock.advance(30_000);

test('F-15: a lock on an order that another host holds is refused; the error names its end, but not its owner', async () => {
  const { clock, take } = await openHost();
  await take('host-a');
  await assert.rejects(take('host-b'), (error: unknown) => {
    assert.ok(error instanceof InstanceLockedError);
    assert.deepEqual([error.orderId, error.heldUntil], ['o1', clock.now() + leaseMs]);
    assert.match(error.message, /o1 is locked .* until 2026-01-01T00:01:00\.000Z/);
    assert.doesNotMatch(`${error.message} ${error.stack} ${JSON.stringify(error)}`, /host-a/);
    return true;
  });
});

test('F-16: a locked order has exactly three retry policies, the default is NoRetry, and any other value is refused at the start', () => {
  assert.deepEqual(lockPolicies, ['NoRetry', 'BasicRetry', 'AggressiveRetry']);
  assert.equal(readConfig({}).lockPolicy, 'NoRetry');
  for (const policy of lockPolicies) assert.equal(readConfig({ INSTANCE_LOCKED_ACTION: policy }).lockPolicy, policy);
  for (const wrong of ['noretry', 'Retry', 'BasicRetry ']) assert.throws(() => readConfig({ INSTANCE_LOCKED_ACTION: wrong }), SetupError);
});

test('F-16, F-17: a caller that chooses no policy is refused at the first attempt', async () => {
  const { take } = await openHost();
  await take('host-a');
  const attempts: number[] = [];
  await assert.rejects(take('host-b', { attempts }), InstanceLockedError);
  assert.deepEqual(attempts, [0]);
});

/** The attempts of a caller that never gets the lease, in milliseconds from the start. */
const it = (title: string, policy: LockPolicy, options: typeof retry, expected: readonly number[]) =>
  test(`${title}, and at the end the caller gets an error`, async () => {
    const { clock, take } = await openHost();
    await take('host-a');
    const attempts: number[] = [];
    const taking = assert.rejects(take('host-b', { policy, retry: options, attempts }), InstanceLockedError);
    await passWaits(clock);
    await taking;
    assert.deepEqual(attempts, expected);
  });

it('F-17: NoRetry tries once and does not wait', 'NoRetry', retry, [0]);
it('F-18: BasicRetry tries at equal intervals', 'BasicRetry', retry, [0, 1000, 2000, 3000, 4000]);
it('F-18: BasicRetry can have growing intervals', 'BasicRetry', { ...retry, growing: true }, [0, 1000, 3000, 6000, 10_000]);
it('F-18: a growing interval has a maximum', 'BasicRetry', { ...retry, growing: true, intervalMaxMs: 2000 }, [0, 1000, 3000, 5000, 7000]);
it('F-18: a sequence of one attempt does not retry', 'BasicRetry', { ...retry, attemptsMax: 1 }, [0]);
it(
  'F-19: AggressiveRetry doubles its intervals up to the maximum',
  'AggressiveRetry',
  { ...retry, attemptsMax: 6 },
  [0, 1000, 3000, 7000, 11_000, 15_000],
);

for (const policy of ['BasicRetry', 'AggressiveRetry'] as const) {
  for (const attempt of [2, 5]) {
    test(`F-20: with ${policy} a caller gets a lock without an error if its holder releases it before attempt ${attempt}`, async () => {
      const { clock, take } = await openHost();
      const lease = await take('host-a');
      const attempts: number[] = [];
      const taking = take('host-b', { policy, attempts });
      for (let turn = 0; turn < 100 && attempts.length < attempt - 1; turn++) await clock.advance(500);
      await lease.release();
      await passWaits(clock);
      assert.equal((await taking).orderId, 'o1');
      assert.equal(attempts.length, attempt);
    });
  }
}

test('F-20: an error other than that of a locked database is not retried', async () => {
  const { store, clock } = await openHost();
  const attempts: number[] = [];
  const broken: Store = { ...store, head: () => Promise.reject(new Error('the store is gone')) };
  await assert.rejects(
    acquireLease(broken, 'o1', {
      holder: 'a',
      leaseMs,
      clock,
      policy: 'BasicRetry',
      retry,
      onAttempt: (attempt) => attempts.push(attempt),
    }),
    /the store is gone/,
  );
  assert.deepEqual(attempts, [1]);
});

test('F-21: a policy that does not fit the duration of leases gets advice naming one that does', () => {
  const table: readonly (readonly [LockPolicy, number, string | undefined])[] = [
    ['NoRetry', 1_000, undefined],
    ['NoRetry', 3_600_000, undefined],
    ['AggressiveRetry', 4_999, undefined],
    ['AggressiveRetry', 5_000, 'BasicRetry'],
    ['BasicRetry', 4_999, 'AggressiveRetry'],
    ['BasicRetry', 60_000, undefined],
    ['BasicRetry', 60_001, 'NoRetry'],
    ['AggressiveRetry', 3_600_000, 'NoRetry'],
  ];
  for (const [policy, leasedMs, fitting] of table) {
    const advice = lockPolicyAdvice(policy, leasedMs);
    if (fitting === undefined) assert.equal(advice, undefined);
    else assert.match(advice ?? '', new RegExp(`INSTANCE_LOCKED_ACTION=${fitting} instead of`));
  }
});

test('F-22: a lock without renewals ends at its time and not before, and then another host may take it', async () => {
  const { store, clock, take } = await openHost();
  await take('host-a');
  await clock.advance(leaseMs - 1);
  await assert.rejects(take('host-b'), InstanceLockedError);
  await clock.advance(1);
  await take('host-b');
  assert.equal((await store.head('o1'))?.heldBy, 'host-b');
});

test('F-22: the owner of a lock renews it as long as the owner runs', async () => {
  const { clock, take } = await openHost();
  const lease = await take('host-a');
  for (let renewals = 0; renewals < 10; renewals++) {
    await clock.advance(leaseMs / 3);
    assert.equal(await lease.renew(), true);
    await assert.rejects(take('host-b'), InstanceLockedError);
  }
  await clock.advance(leaseMs);
  await take('host-b');
});

test('F-22: an expired lease is not renewed, whether or not another host holds it now', async () => {
  const { store, clock, take } = await openHost();
  const lease = await take('host-a');
  await clock.advance(leaseMs);
  assert.equal(await lease.renew(), false);
  await take('host-b');
  assert.equal(await lease.renew(), false);
  assert.equal((await store.head('o1'))?.heldBy, 'host-b');
});

test("F-22: a host that releases an expired lock does not release another host's lock", async () => {
  const { store, clock, take } = await openHost();
  const lease = await take('host-a');
  await clock.advance(leaseMs);
  await take('host-b');
  await lease.release();
  assert.equal((await store.head('o1'))?.heldBy, 'host-b');
});

test('F-27: a lock is free as soon as it is released', async () => {
  const { store, take } = await openHost();
  const lease = await take('host-a');
  await lease.release();
  const head = await store.head('o1');
  assert.deepEqual([head?.heldBy, head?.heldUntil], [null, null]);
  assert.equal(await lease.renew(), false);
  await take('host-b');
});

test('a host that has a lock may take it again', async () => {
  const { clock, take } = await openHost();
  await take('host-a');
  await clock.advance(1000);
  await take('host-a');
  await clock.advance(leaseMs - 1);
  await assert.rejects(take('host-b'), InstanceLockedError);
});

test('F-13: one of fifty hosts that take the same lock at the same time gets it', async () => {
  const { take } = await openHost();
  const taken = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => take(`host-${index}`)));
  assert.equal(taken.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const each of taken) if (each.status === 'rejected') assert.ok(each.reason instanceof InstanceLockedError, String(each.reason));
});

test('S2: taking, renewing and releasing a lock write one revision each and leave the order unchanged', async () => {
  const { store, take } = await openHost();
  const before = await store.load('o1');
  const lease = await take('host-a');
  await lease.renew();
  await lease.release();
  assert.ok(before);
  assert.deepEqual(await store.load('o1'), { ...before, state: { ...before.state, rev: 4 } });
});

test('a missing order cannot be locked', async () => {
  const { store, clock } = await openHost();
  assert.equal(await acquireLease(store, 'nope', { holder: 'host-a', leaseMs, clock }), undefined);
});

test('until the lease ends, no host but its holder can take the order', () => {
  const leased = { heldBy: 'a', heldUntil: 100 };
  assert.deepEqual(
    [
      isHeldByOther(leased, 'b', 99),
      isHeldByOther(leased, 'b', 100),
      isHeldByOther(leased, 'a', 99),
      isHeldByOther({ heldBy: null, heldUntil: null }, 'b', 0),
    ],
    [true, false, false, false],
  );
});
