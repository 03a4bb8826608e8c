import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { changesBetween, failureText } from '#cli/changes';
import { rowText } from '#cli/demo-view';
import type { OrderView, StepView } from '#cli/orders';
import { painter, printable, spanText } from '#cli/text';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const order = (more: Partial<OrderView> = {}): OrderView => ({
  orderId: 'ord_1',
  workflow: { name: 'w', version: 1 },
  processState: 'Processing',
  submittedAt: at(0),
  updatedAt: at(4),
  steps: [],
  ...more,
});
const charge = (more: Partial<StepView>): StepView => ({
  path: 'order/charge',
  name: 'charge',
  agent: 'till',
  operation: 'charge',
  status: 'Executing',
  attempts: 1,
  ...more,
});

describe('the messages to a watcher of an order', () => {
  const requested = order({ steps: [charge({})] });

  test('report a requested step once', () => {
    assert.deepEqual(changesBetween(undefined, requested), ['charge requested']);
    assert.deepEqual(changesBetween(requested, requested), []);
  });

  test('show the number of each attempt after the first', () => {
    assert.deepEqual(changesBetween(requested, order({ steps: [charge({ attempts: 2 })] })), ['charge requested again (attempt 2)']);
  });

  test('include how long a step took', () => {
    const done = order({ steps: [charge({ status: 'Closed', result: 'Succeeded', attempts: 2, startedAt: at(1), closedAt: at(3) })] });
    assert.deepEqual(changesBetween(requested, done), ['charge ok 2.0 s (attempt 2)']);
  });

  test('name the failing undo of a suspended order, and the undo that a person has marked as done', () => {
    const undo = { scope: 'order', done: 0, left: 1, now: 'order/charge' };
    const stuck = [{ path: 'order/charge', attempts: 2, lastFault: null, nextAt: null }];
    const steps = [charge({ path: 'order/charge/undo', name: 'undo of charge', attempts: 2 })];
    const marked = steps.map((step) => ({ ...step, skipped: 'done' as const }));
    const stopped = order({ suspended: true, undo: { ...undo, stuck }, steps });
    assert.deepEqual(changesBetween(order({ suspended: true }), stopped), ['undo of charge keeps failing (attempt 2)']);
    assert.deepEqual(changesBetween(stopped, order({ suspended: true, undo: { ...undo, stuck: [] }, steps: marked })), [
      'undo of charge done by hand',
    ]);
  });

  test('count the failures of an undo without the request that has no reply yet', () => {
    const said = (attempts: number, nextAt: string | null, isSuspended = false) =>
      failureText({ path: 'order/charge', attempts, lastFault: null, nextAt }, isSuspended);
    assert.equal(said(1, at(9)), 'failed once');
    assert.equal(said(2, null), 'failed once, requested again');
    assert.equal(said(3, at(9)), 'failed 3 times');
    assert.equal(said(1, null, true), 'failed once');
    assert.equal(said(2, null, true), 'keeps failing');
    assert.equal(said(0, null), 'cannot be requested');
  });

  test('leave out a step that has not begun', () => {
    assert.deepEqual(changesBetween(undefined, order({ steps: [charge({ status: 'Initialized', attempts: 0 })] })), []);
  });

  test('name the fault of a failed step and of its order', () => {
    const fault = { type: 'CardDeclined', source: 'order/charge', message: 'no' };
    const failed = order({ processState: 'Error', fault, steps: [charge({ status: 'Faulting' })] });
    assert.deepEqual(changesBetween(requested, failed), ['charge failed: CardDeclined', 'blocked: CardDeclined at order/charge: no']);
    assert.deepEqual(changesBetween(failed, requested), ['running again', 'charge requested']);
  });

  test('report compensation step by step', () => {
    const undoing = order({ steps: [charge({ status: 'Compensating' })] });
    const undone = order({
      processState: 'Processed',
      outcome: 'compensated',
      steps: [charge({ status: 'Closed', result: 'Compensated' })],
    });
    assert.deepEqual(changesBetween(requested, undoing), ['charge is being undone']);
    assert.deepEqual(changesBetween(undoing, undone), ['charge undone', 'compensated 4.0 s after its submission']);
  });

  test('include a reset and a suspension', () => {
    assert.deepEqual(changesBetween(undefined, order({ processState: 'Pending' })), ['pending: waits for a scheduler']);
    assert.deepEqual(changesBetween(order(), order({ processState: 'Pending' })), ['pending again: waits for a scheduler']);
    assert.deepEqual(changesBetween(order(), order({ suspended: true })), [
      'suspended by an operator: nothing is requested until somebody resumes it',
    ]);
  });
});

describe('text for a terminal', () => {
  test('contains no control characters', () => {
    assert.equal(printable('a\u001b[2Jb\u009b31mc\u202ed\n'), 'a\ufffd[2Jb\ufffd31mc\ufffdd\ufffd');
  });

  test('shows durations in a short form', () => {
    assert.deepEqual([0, 149, 9_949, 12_400, 180_000, 7_200_000, 259_200_000].map(spanText), [
      '0.0 s',
      '0.1 s',
      '9.9 s',
      '12 s',
      '3 min',
      '2 h',
      '3 d',
    ]);
  });

  test('the row of an order in the demo is never wider than the terminal', () => {
    const row = { name: 'a-long-name-of-a-sample', order: order({ steps: [charge({}), charge({ path: 'b' })] }) };
    for (let columns = 2; columns < 120; columns++)
      assert.ok(rowText(row, { nameWidth: 30, columns, paint: painter(false) }).length < columns, String(columns));
  });
});
