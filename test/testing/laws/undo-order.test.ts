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
  test('S11, F-101: the undo of one branch need not undo a later step of a parallel branch', () => {
    assert.deepEqual(judged(...begun, undone(second), requested(`${first}/undo`), undone(first), ...last), []);
  });

  test('S11, F-101: a branch that is undone oldest first breaks the law, even if a parallel branch continues', () => {
    const forward = [done(first), done(second), compensateThere, requested(`${first}/undo`), requested(beside), done(beside)];
    assert.deepEqual(judged(...forward, undone(first), requested(`${second}/undo`), undone(second), ...last), [
      `order ord_1: ${first} was undone before ${second}, which was done later`,
    ]);
  });

  test('S11: the law applies to the undo of a whole order that has continued after the undo of a branch', () => {
    const goesOn = [undone(second), requested(`${first}/undo`), undone(first), requested(beside), done(first)];
    assert.deepEqual(judged(...begun, ...goesOn, requested(`${beside}/undo`), undone(beside)), [
      `order ord_1: ${beside} was undone before ${first}, which was done later`,
    ]);
  });
});
