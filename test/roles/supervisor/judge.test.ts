import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Breaker, opened } from '#ports/circuit-breaker';
import type { StateHead } from '#ports/records';
import { type Decision, judgeBacklog, judgeDue, judgeExpiry, judgeOutage } from '#roles/supervisor/judge';

const now = 1_000_000;
const stepMs = 10_000;

/** An order whose step was requested one step timeout ago, and is due now. */
const order = (change: Partial<StateHead> = {}): StateHead => ({
  schemaVersion: 1,
  orderId: 'ord_1',
  submittedAt: 0,
  rev: 7,
  epoch: 3,
  lockedBy: 'host-1',
  completeBy: now,
  processState: 'Processing',
  outcome: null,
  failureCount: 0,
  errorGen: 0,
  suspended: false,
  remainingMs: null,
  fault: null,
  heldBy: null,
  heldUntil: null,
  nextDueAt: now,
  nextDueFor: { kind: 'step', path: 'order/charge', agent: 'payment' },
  worklist: 'due',
  worklistAt: now,
  recover: 'step',
  maxFailures: 3,
  onExhausted: 'error',
  stepMs,
  client: 'acme',
  responseChannel: null,
  statusSeq: 1,
  workflow: { name: 'pay', version: 1 },
  definition: null,
  lastBy: [],
  writeIds: [],
  outbox: [],
  notes: [],
  updatedAt: 0,
  ...change,
});

const due = (head: StateHead | undefined, at = now): Decision => judgeDue(head, at, 2_000);
const next = (decision: Decision): StateHead => {
  assert.ok('next' in decision, decision.kind);
  return decision.next;
};

describe('an order whose id is on the worklist', () => {
  test('F-48: the order is late only after its deadline and the tolerance for clocks', () => {
    assert.equal(due(order(), now + 1_999).kind, 'leave');
    assert.equal(due(order(), now + 2_000).kind, 'late');
  });

  test('the entry moves if the record says that the order is due later', () => {
    assert.equal(next(due(order({ nextDueAt: now + 5_000 }))).worklistAt, now + 5_000);
  });

  test('the deadline moves to the end of the lease while a scheduler holds the order', () => {
    const moved = next(due(order({ heldBy: 'host-2', heldUntil: now + 3_000 }), now + 2_500));
    assert.deepEqual([moved.nextDueAt, moved.failureCount], [now + 3_000, 0]);
  });

  test('the order is left alone while it is suspended, unless it has messages to send', () => {
    assert.equal(due(order({ suspended: true }), now + 2_000).kind, 'leave');
    assert.equal(due(order({ suspended: true, nextDueFor: { kind: 'outbox' } }), now + 2_000).kind, 'wake');
  });

  test('an order that is due for a timer wakes its scheduler, and no failure counts', () => {
    assert.deepEqual(due(order({ nextDueFor: { kind: 'timer' } })), { kind: 'wake', deadline: `timer@${now}` });
  });

  test('an order that does not exist any more is left alone', () => {
    assert.equal(due(undefined).kind, 'leave');
  });
});

describe('a deadline that has expired', () => {
  test('F-49, F-52: an expiry counts one failure, and the new request of the step gets another step timeout', () => {
    const { next: head, wakes } = judgeExpiry(order(), now);
    assert.deepEqual([head.failureCount, head.nextDueFor?.kind, head.nextDueAt, wakes], [1, 'request', now + stepMs, true]);
  });

  test('F-51: the step may fail as often as the limit says; after that the order goes into Error with an alert', () => {
    const failed = (failures: number) => judgeExpiry(order({ nextDueFor: { kind: 'step', path: 'order/charge', failures } }), now);
    assert.equal(failed(2).next.processState, 'Processing');
    const { next: head, intoError } = failed(3);
    assert.deepEqual(
      [head.processState, head.fault?.type, head.outbox.map(({ kind }) => kind), intoError],
      ['Error', 'DeadlineExceeded', ['announcement', 'opened'], true],
    );
  });

  test('F-53: a step above the failure limit is requested again after its long wait, and no scheduler is woken before', () => {
    const patient = order({ onExhausted: 'wait', longWaitMs: 3_600_000, nextDueFor: { kind: 'step', failures: 3 } });
    const { next: head, wakes } = judgeExpiry(patient, now);
    assert.deepEqual([head.nextDueAt, wakes, head.processState], [now + 3_600_000, false, 'Processing']);
  });

  test('F-53, F-125: the deadline is the time of a rule if a long wait ends later, and the step still waits until that end', () => {
    const wakeAt = now + 60_000;
    const patient = order({ onExhausted: 'wait', nextDueFor: { kind: 'step', failures: 3, wakeAt } });
    const { next: head } = judgeExpiry(patient, now);
    assert.deepEqual([head.nextDueAt, head.nextDueFor], [wakeAt, { kind: 'rule', failures: 4, waitsUntil: now + 3_600_000 }]);
  });

  test('F-50: a claim is taken from its scheduler, with a new epoch', () => {
    const { next: head } = judgeExpiry(order({ nextDueFor: { kind: 'claim' } }), now);
    assert.deepEqual([head.processState, head.lockedBy, head.epoch, head.nextDueFor?.kind], ['Pending', null, 4, 'unclaimed']);
  });
});

describe('a late step while its service is unavailable', () => {
  const record: Breaker = { ...opened('payment', undefined, now - 20_000, 0.5), probeAt: now - 1_000 };
  const outage = { record, reason: 'the service behind payment is away' };

  test('one order in a pass probes the service, and its failure does not count', () => {
    const decision = judgeOutage(order(), outage, { now, isProbed: false });
    assert.deepEqual([next(decision).nextDueFor?.kind, next(decision).failureCount], ['request', 0]);
    assert.equal(decision.kind === 'postpone' && decision.probes, 'payment');
  });

  test('every other order waits, at least for one step timeout', () => {
    const decision = judgeOutage(order(), outage, { now, isProbed: true });
    assert.deepEqual([next(decision).nextDueAt, next(decision).failureCount], [now + stepMs, 0]);
    assert.equal(decision.kind === 'postpone' && decision.wakes, false);
  });

  test('F-125: in an outage a step waits longer, and still the rules about late steps are asked at the time that they name', () => {
    const wakeAt = now + 1_000;
    const patient = order({ nextDueFor: { kind: 'step', wakeAt } });
    const { nextDueAt, nextDueFor } = next(judgeOutage(patient, outage, { now, isProbed: true }));
    assert.deepEqual([nextDueAt, nextDueFor?.kind], [wakeAt, 'rule']);
  });

  test('an order notes the reason once, although its deadline moves several times', () => {
    const once = next(judgeOutage(order(), outage, { now, isProbed: true }));
    const twice = next(judgeOutage({ ...once, rev: 8 }, outage, { now: now + stepMs, isProbed: true }));
    assert.equal(twice.notes.length, 1);
  });
});

describe('a late step while the system is behind', () => {
  const backlog = { source: 'payment-replies', reason: 'the queue payment-replies is backed up' };

  test('the first order of a backlog carries the alert', () => {
    const decision = judgeBacklog(order(), backlog, { now, isAnnounced: () => false });
    assert.deepEqual(
      next(decision).outbox.map((entry) => entry.kind === 'announcement' && entry.detailType),
      ['Service Exception'],
    );
    assert.deepEqual([next(decision).nextDueFor?.kind, next(decision).failureCount], ['outbox', 0]);
  });

  test('further orders of a backlog carry no alert, and wait for one step timeout', () => {
    const decision = judgeBacklog(order(), backlog, { now, isAnnounced: () => true });
    assert.deepEqual([next(decision).outbox.length, next(decision).nextDueAt], [0, now + stepMs]);
  });
});
