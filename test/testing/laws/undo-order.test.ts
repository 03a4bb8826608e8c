import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredEntry } from '#roles/scheduler/instance';
import { undoOrder } from '#testing/laws/undo-order';
import type { History } from '#testing/world/history';

type Fact = Readonly<Record<string, unknown> & { type: string }>;

const requested = (path: string): Fact => ({ type: 'StepRequested', path });
const done = (path: string): Fact => ({ type: 'ActivityClosed', path, result: 'Succeeded' });
const undone = (path: string): Fact => ({ type: 'ActivityClosed', path: `${path}/undo`, result: 'Compensated' });

const [first, second, beside] = ['order/both/there/first', 'order/both/there/second', 'order/both/back/book'];
const compensateThere: Fact = { type: 'InstructionGiven', kind: 'compensate', after: { path: 'order/both/there' } };
/** Somebody undoes one branch. Meanwhile the other branch requests its step and is done. */
const begun = [done(first), done(second), compensateThere, requested(`${second}/undo`), requested(beside), done(beside)];
/** The branch ends, and the whole order is undone: so the law sees that the step of the other branch can be undone. */
const last = [done('order/both/there'), requested(`${beside}/undo`), undone(beside)];

function judged(...facts: readonly Fact[]): readonly string[] {
  const order = { orderId: 'ord_1', journal: facts as unknown as readonly StoredEntry[] };
  return undoOrder().atEnd?.({ sound: [order] } as unknown as History) ?? [];
}

describe('the law of the undo order', () => {
  test('S11, F-101: the undo of one branch may keep a later step of the parallel branch', () => {
    assert.deepEqual(judged(...begun, undone(second), requested(`${first}/undo`), undone(first), ...last), []);
  });

  test('S11, F-101: a branch that is undone in forward order breaks the law, also when the parallel branch goes on', () => {
    const forward = [done(first), done(second), compensateThere, requested(`${first}/undo`), requested(beside), done(beside)];
    assert.deepEqual(judged(...forward, undone(first), requested(`${second}/undo`), undone(second), ...last), [
      `order ord_1: ${first} was undone before ${second}, which was done later`,
    ]);
  });

  test('S11: an order that goes on after the undo of a branch is undone as a whole again', () => {
    const goesOn = [undone(second), requested(`${first}/undo`), undone(first), requested(beside), done(first)];
    assert.deepEqual(judged(...begun, ...goesOn, requested(`${beside}/undo`), undone(beside)), [
      `order ord_1: ${beside} was undone before ${first}, which was done later`,
    ]);
  });
});
