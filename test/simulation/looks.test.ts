import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLook } from './looks.ts';

const counted = 40_000;
const looks = Array.from({ length: counted }, (_, events) => events).filter(isLook);

test('G1: a world with supervisors that run in turn is found at rest, whether a turn has one event or 24', () => {
  for (let turn = 1; turn <= 24; turn++)
    assert.equal(new Set(looks.map((events) => events % turn)).size, turn, `each moment of a turn of ${turn} events`);
});

test('G1: a world looks after one event of twenty, and never before its first event', () => {
  assert.equal(looks.length, counted / 20);
  assert.ok(!isLook(0));
});
