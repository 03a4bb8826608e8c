import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backAfter, type CallSeen, callsFrom, type Took, timesAsLong, timesOf } from '../../dev/verify/live/arithmetic.ts';

const took = (ms: number | undefined): Took => ({
  client: 'acme',
  dueAt: 1000,
  endedAt: ms === undefined ? undefined : 1000 + ms,
  outcome: ms === undefined ? 'Error' : 'completed',
});

/** Returns times with this gap, in milliseconds. */
const every = (gapMs: number, from: number, to: number): readonly number[] =>
  Array.from({ length: Math.ceil((to - from) / gapMs) }, (_, index) => from + index * gapMs);

test('the p99 of a hundred orders is the time of the second slowest, measured from its planned submission', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => took(100 - index));
  assert.deepEqual(timesOf(hundred), { orders: 100, p50Ms: 50, p99Ms: 99, slowestMs: 100 });
});

test('an order that never ends counts as the slowest, so it improves no figure', () => {
  assert.deepEqual(timesOf([took(10), took(20), took(30), took(undefined)]), { orders: 4, p50Ms: 20, p99Ms: null, slowestMs: null });
  assert.equal(timesAsLong(null, 20), null);
  assert.equal(timesAsLong(30, 20), 1.5);
});

test('throughput recovers with the first window that has 95 % of the usual rate, measured from the end of the outage', () => {
  const before = every(100, 0, 20_000);
  const spans = { before: [0, 20_000], over: 60_000, until: 90_000, windowMs: 10_000 } as const;
  assert.equal(backAfter([...before, ...every(100, 65_000, 90_000)], spans), 15_000);
  assert.equal(backAfter([...before, ...every(50, 65_000, 90_000)], spans), 10_000);
});

test('throughput that stays below 95 % of the usual rate, or reaches it after the observation, has not recovered', () => {
  const before = every(100, 0, 20_000);
  const spans = { before: [0, 20_000], over: 60_000, until: 90_000, windowMs: 10_000 } as const;
  assert.equal(backAfter([...before, ...every(110, 60_000, 90_000)], spans), undefined);
  assert.equal(backAfter([...before, ...every(100, 85_000, 120_000)], spans), undefined);
});

test('each new effect counts as one needed call, and an effect from before the failures counts as none', () => {
  const seen = (at: number, key: string, done: boolean): CallSeen => ({ at, key, done });
  const calls = [
    seen(1, 'before', true),
    seen(9, 'refused', false),
    // Requested again after its effect, refused first, and done at once.
    seen(10, 'before', true),
    seen(11, 'refused', false),
    seen(30, 'refused', true),
    seen(31, 'at once', true),
  ];
  assert.deepEqual(callsFrom(calls, 10), { calls: 4, needed: 2, callsToNeeded: 2 });
  assert.deepEqual(callsFrom(calls, 40), { calls: 0, needed: 0, callsToNeeded: null });
});
