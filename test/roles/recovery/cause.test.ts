import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeOfRecovery } from '#roles/recovery/cause';
import type { JournalEntry } from '#roles/scheduler/instance';

/** The person has recovered the order about its exception; the host that begins the recovery is a second ahead of the one that undoes. */
const ahead = 2000;
const undoneAt = 1500;
const lines = [
  { type: 'InstructionGiven', kind: 'recover', by: 'ada', reason: 'r', at: ahead },
  { type: 'ExceptionHandled', exceptionId: 'exc_1', handling: { by: 'person', id: 'ada', at: ahead }, at: ahead },
  { type: 'ActivityClosed', path: 'order/book/undo', result: 'Compensated', at: undoneAt },
] as const;
const journal = (...more: readonly object[]) =>
  [...lines, ...more].map((line, index) => ({ ...line, seq: index + 1 }) as unknown as JournalEntry);

test('F-152: a recovery has the cause that its order names, also if the clock of the host that undoes is behind', () => {
  assert.equal(causeOfRecovery('ord_1', journal(), undoneAt), 'exc_1');
});

test('F-152: a later recovery of an order, about another exception, leaves the cause of an earlier undo as it is', () => {
  const later = [
    { type: 'InstructionGiven', kind: 'recover', by: 'ada', reason: 'again', at: 1400 },
    { type: 'ExceptionHandled', exceptionId: 'exc_2', handling: { by: 'person', id: 'ada', at: 1400 }, at: 1400 },
    { type: 'MarkedCompensated', path: 'order/book', by: 'ada', reason: 'by hand', at: 3000 },
  ];
  assert.equal(causeOfRecovery('ord_1', journal(...later), undoneAt), 'exc_1');
  assert.equal(causeOfRecovery('ord_1', journal(...later), 3000), 'exc_2');
});

test('F-152: an exception that a rule handles in the write of a recovery by a person is not the cause of that recovery', () => {
  const [begun, , undone] = lines;
  const byRule = { type: 'ExceptionHandled', exceptionId: 'exc_1', handling: { by: 'rule', id: 'beside', at: ahead }, at: ahead };
  const entries = [begun, byRule, undone].map((line, index) => ({ ...line, seq: index + 1 }) as unknown as JournalEntry);
  assert.equal(causeOfRecovery('ord_1', entries, undoneAt), 'ord_1');
});
