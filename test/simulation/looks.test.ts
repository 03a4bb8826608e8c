import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLook } from './looks.ts';

const counted = 40_000;
const looks = Array.from({ length: counted }, (_, events) => events).filter(isLook);

test('G1: the checks for rest fall on each position within a round of supervisors, for rounds of 1 to 24 events', () => {
  for (let turn = 1; turn <= 24; turn++)
    assert.equal(new Set(looks.map((events) => events % turn)).size, turn, `each moment of a turn of ${turn} events`);
});

test('G1: a world is checked for rest after one event in twenty, and never before its first event', () => {
  assert.equal(looks.length, counted / 20);
  assert.ok(!isLook(0));
});
