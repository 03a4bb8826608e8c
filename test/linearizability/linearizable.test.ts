import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLinearizable, type Operation } from './linearizable.ts';
import { type RecordAnswer, type RecordCall, recordFrom, type Version } from './record.ts';

const version = (rev: number, lockedBy: string | null = null): Version => ({
  rev,
  epoch: lockedBy ? 1 : 0,
  lockedBy,
  writeId: lockedBy ?? 'none',
});
const unclaimed = version(1);
type Recorded = Operation<RecordCall, RecordAnswer>;

const read = (called: number, answered: number, current: Version): Recorded => ({
  called,
  answered,
  input: { type: 'read' },
  output: { written: false, current },
});
const claims = (who: string): RecordCall => ({ type: 'write', when: { rev: 1, epoch: 0 }, to: version(2, who) });
const claim = (who: string, called: number, answered: number, output?: RecordAnswer): Recorded => ({
  called,
  answered,
  input: claims(who),
  ...(output ? { output } : {}),
});
const won: RecordAnswer = { written: true };
const lostTo = (who: string): RecordAnswer => ({ written: false, current: version(2, who) });
const isPossible = (...history: Recorded[]): boolean => isLinearizable(history, recordFrom(unclaimed));

test('S1: one of two concurrent claims wins, and the other host learns which host has won', () => {
  assert.equal(isPossible(read(0, 2, unclaimed), claim('a', 1, 5, won), claim('b', 2, 6, lostTo('a'))), true);
});

test('S1: two winners of one order are impossible', () => {
  assert.equal(isPossible(claim('a', 1, 5, won), claim('b', 2, 6, won)), false);
});

test('stale reads are impossible: after a claim was answered, each read shows the order as claimed', () => {
  assert.equal(isPossible(claim('a', 1, 5, won), read(3, 7, unclaimed)), true);
  assert.equal(isPossible(claim('a', 1, 5, won), read(6, 7, unclaimed)), false);
});

test('two readers see two writes in the same sequence', () => {
  assert.equal(isPossible(claim('a', 1, 9, won), read(2, 3, version(2, 'a')), read(4, 5, unclaimed)), false);
});

test('a claim is refused only if another claim has won before the refusal was answered', () => {
  assert.equal(isPossible(claim('b', 2, 6, lostTo('a'))), false);
  assert.equal(isPossible(claim('b', 2, 6, lostTo('a')), claim('a', 7, 8, won)), false);
});

test('X-2: an unanswered write may have happened or not', () => {
  const unanswered = claim('a', 1, Number.POSITIVE_INFINITY);
  assert.equal(isPossible(unanswered, read(8, 9, version(2, 'a'))), true);
  assert.equal(isPossible(unanswered, read(8, 9, unclaimed)), true);
  assert.equal(isPossible(unanswered, read(6, 7, version(2, 'a')), read(8, 9, unclaimed)), false);
});

/** A sequential history, each operation widened to a span of time around its moment. */
const happened = fc
  .array(fc.record({ who: fc.constantFrom('a', 'b', 'c', 'd'), reads: fc.boolean(), early: fc.nat(30), late: fc.nat(30) }), {
    minLength: 2,
    maxLength: 25,
  })
  .map((all) => {
    let current = unclaimed;
    return all.map(({ who, reads, early, late }, index): Recorded => {
      const [called, answered] = [index * 10 - early, index * 10 + 1 + late];
      if (reads) return read(called, answered, current);
      const isAccepted = current.rev === 1;
      if (isAccepted) current = version(2, who);
      return claim(who, called, answered, isAccepted ? won : { written: false, current });
    });
  });

test('a history that really was sequential is recognized, however much of it overlaps', () => {
  fc.assert(fc.property(happened, (history) => isPossible(...history)));
});

test('a history with a read of a claim that no host made is rejected', () => {
  fc.assert(fc.property(happened, (history) => !isPossible(...history, read(0, 1000, version(2, 'nobody')))));
});
