import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedByIn, lastInstructionIn } from '#api/given-instructions';
import { programOf } from '#core/definition/program';
import type { JournalEntry } from '#roles/scheduler/instance';
import { sequence, step, workflow } from '../support/workflows.ts';

const program = programOf(workflow(sequence('order', step('a'), step('b'))));
const fault = (type: string) => ({ type, class: 'expected', permanent: true, message: 'no' }) as const;
const given = (kind: string, more: object = {}) => ({ type: 'InstructionGiven', kind, by: 'olga', reason: 'r', ...more });
const blocked = (path: string, type: string) => ({ type: 'OrderBlocked', path, fault: fault(type) });
const journal = (...facts: readonly object[]) =>
  facts.map((fact, seq) => ({ seq, at: seq, ...fact })) as unknown as readonly JournalEntry[];

const verdictAfter = (...facts: readonly object[]) => {
  const { verified, fault: found } = lastInstructionIn(program, journal(...facts)) ?? {};
  return found ? `${verified} ${found.type}` : verified;
};

test('F-155: the last instruction to an order is judged by the lines after it', () => {
  const before = blocked('order/a', 'No');
  const closed = { type: 'ActivityClosed', path: 'order/a', result: 'Succeeded' };
  assert.equal(verdictAfter(before), undefined);
  assert.equal(verdictAfter(before, given('resubmit')), 'running');
  assert.equal(verdictAfter(before, given('resubmit'), { type: 'OrderUnblocked', path: 'order/a' }, closed), 'passed');
  assert.equal(verdictAfter(before, given('replace-input'), before), 'failed-again No');
  assert.equal(verdictAfter(before, given('replace-input'), blocked('order/a', 'Full')), 'failed-otherwise Full');
  assert.equal(verdictAfter(before, given('resubmit', { after: { path: 'order/b' } }), closed), 'running', 'another step was meant');
  assert.equal(verdictAfter(before, given('resubmit'), closed, given('suspend')), null, 'a suspension is not judged');
  assert.equal(verdictAfter(given('restart'), { type: 'OrderProcessed', outcome: 'terminated' }), null, 'the new order judges it');
  assert.equal(verdictAfter(given('cancel'), { type: 'OrderProcessed', outcome: 'canceled' }), 'passed');
});

test('F-155: the verdict of a last instruction `handle` is the worst verdict of its handlers', () => {
  const started = (seq: number) => ({ type: 'HandlerStarted', exceptionId: `exc_abc_${seq}`, handler: `ord_${seq}`, workflow: 'w', at: 0 });
  const ended = (seq: number, isCompleted: boolean) => ({ type: 'HandlerEnded', exceptionId: `exc_abc_${seq}`, isCompleted });
  const handle = given('handle', { at: 0 });
  assert.equal(verdictAfter(handle, started(1)), 'running');
  assert.equal(verdictAfter(handle, started(1), ended(1, true)), 'passed');
  assert.equal(verdictAfter(handle, started(1), ended(1, false)), 'failed-otherwise');
  assert.equal(verdictAfter(handle, started(1), started(2), ended(1, true)), 'running', 'the other one is at work');
  assert.equal(verdictAfter(handle, started(1), started(2), ended(1, true), ended(2, true)), 'passed');
  assert.equal(verdictAfter(handle, started(1), started(2), ended(2, true), ended(1, false)), 'failed-otherwise');
  assert.equal(verdictAfter(handle, started(1), started(2), ended(1, false)), 'failed-otherwise', 'whatever becomes of the other one');
  assert.equal(verdictAfter(handle, started(1), { ...started(2), at: 9 }, ended(1, true)), 'passed', 'another one began later');
});

test('the last instruction names the task that it has resolved', () => {
  const handled = { type: 'ExceptionHandled', exceptionId: 'exc_abc_2', handling: { by: 'person', control: 'resumed', at: 1 } };
  assert.equal(lastInstructionIn(program, journal(blocked('order/a', 'No'), given('resubmit'), handled))?.taskId, 'tsk_abc_2');
  assert.equal(lastInstructionIn(program, journal(given('suspend')))?.taskId, null);
});

test('the last instruction names the type and the message of the fault before it, and the values that it has changed', () => {
  const standing = { processState: 'Error', outcome: null, suspended: false };
  const said = { before: { ...standing, version: 1 }, after: { ...standing, processState: 'Processing', version: 2 } };
  assert.partialDeepStrictEqual(lastInstructionIn(program, journal(blocked('order/a', 'No'), given('migrate', said))), {
    faultBefore: { type: 'No', message: 'no' },
    before: { version: 1 },
    after: { version: 2 },
  });
  const alone = lastInstructionIn(
    program,
    journal(blocked('order/a', 'No'), { type: 'OrderUnblocked', path: 'order/a' }, given('suspend')),
  );
  assert.partialDeepStrictEqual(alone, { faultBefore: null, before: {}, after: {} });
});

test('an order names the instruction that has ended it, or no instruction if it ended without one', () => {
  const lines = journal(given('cancel', { reason: 'too late' }), given('suspend'), given('resume'));
  assert.partialDeepStrictEqual(endedByIn('canceled', lines), { kind: 'cancel', by: 'olga', reason: 'too late' });
  assert.equal(endedByIn('completed', lines), undefined);
  assert.equal(endedByIn('compensated', lines), undefined);
  assert.equal(endedByIn(undefined, lines), undefined);
  for (const kind of ['compensate', 'recover']) {
    const ofPart = given(kind, { after: { path: 'order/a' } });
    assert.equal(endedByIn('compensated', journal(ofPart)), undefined, 'a part of it was undone, and the order went on');
    assert.equal(endedByIn('compensated', journal(given(kind), ofPart))?.kind, kind);
    assert.equal(endedByIn('compensated', journal(given(kind, { after: { path: 'order' } })))?.kind, kind);
  }
});
