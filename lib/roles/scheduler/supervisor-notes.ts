import { engineFaults, shortType } from '#core/data/fault';
import { workingSteps } from '#core/engine/lateness';
import type { Note } from '#ports/records';
import { countedUntil, isStopped } from './deadlines.ts';
import { applyEvent, type Draft } from './draft.ts';
import { journal } from './instance.ts';
import { hasLock } from './lease.ts';

type ExpiryNote = Extract<Note, { type: 'DeadlineExpired' | 'OrderReset' | 'ThresholdExceeded' }>;

/** Passes the supervisor's notes to the core and the journal, because the supervisor does not read the instance. */
export function takeNotes(draft: Draft): Draft {
  const { notes } = draft.record;
  if (notes.length === 0) return draft;
  const journaled = { ...draft, instance: journal(draft.instance, notes, draft.now) };
  const counted = notes.filter(isExpiry).reduce(countExpiry, journaled);
  // Notes are stored with the next write but do not cause one, so a stale reply still writes nothing.
  return { ...counted, record: { ...counted.record, notes: [] }, changed: draft.changed };
}

function countExpiry(draft: Draft, note: ExpiryNote): Draft {
  const { maxFailures, onExhausted } = draft.record;
  const path = 'path' in note ? note.path : undefined;
  const waitsUntil = onExhausted === 'wait' && note.failureCount > maxFailures ? countedUntil(draft.record) : undefined;
  return applyEvent(draft, {
    type: 'counted',
    ...(path === undefined ? {} : { path }),
    ...(waitsUntil === undefined ? {} : { waitsUntil }),
  });
}

/** Blocks the instance if the supervisor moved the record to Error, or if the record was quarantined. */
export function blockLikeRecord(draft: Draft): Draft {
  const { nextDueFor, processState, fault } = draft.record;
  if (processState !== 'Error' || draft.instance.state.phase !== 'running') return draft;
  const isOverdue = fault === null || fault.type === shortType(engineFaults.deadlineExceeded);
  return applyEvent(draft, { type: 'exhausted', ...(nextDueFor?.path ? { path: nextDueFor.path } : {}), ...(isOverdue ? {} : { fault }) });
}

/**
 * Requests the steps whose missed deadline the supervisor has counted and that have no answer yet, and the steps whose requests were never
 * sent.
 */
export function requestOverdue(draft: Draft): Draft {
  const { nextDueFor, processState } = draft.record;
  const isCounted = nextDueFor?.kind === 'request' || nextDueFor?.kind === 'unsent' || nextDueFor?.waitsUntil !== undefined;
  if (processState !== 'Processing' || isStopped(draft.record) || hasLock(draft.record) || !isCounted) return draft;
  return applyEvent(dealWithExhaustion(draft), { type: 'expired' });
}

/** Applies the workflow's `onExhausted` to steps above their failure limit. */
function dealWithExhaustion(draft: Draft): Draft {
  const { maxFailures, onExhausted, recover } = draft.record;
  const exhausted = workingSteps(draft.loaded.program, draft.instance.state).filter(
    ({ local, activity: { late = 0 } }) => late > maxFailures && local.completeBy <= draft.now,
  );
  const [first] = exhausted;
  if (first && onExhausted === 'undo') return applyEvent(draft, { type: 'canceled', outcome: 'compensated', late: first.path });
  if (onExhausted !== 'fault' || recover !== 'step') return draft;
  return exhausted.reduce((each, { path }) => applyEvent(each, { type: 'overdue', path }), draft);
}

/**
 * Passes the present time to the core, so that activities that are due continue. If the supervisor has put off the steps of one agent, the
 * order may be due earlier for a timer, a rule or another step (`untilWake`). Then it is written even if nothing changes, so that it gets
 * its next deadline.
 */
export function wake(draft: Draft): Draft {
  const { processState, nextDueFor, nextDueAt } = draft.record;
  if (processState !== 'Processing') return draft;
  const woken = applyEvent(draft, { type: 'woken' });
  const isDue = nextDueFor?.kind === 'rule' && nextDueFor.putOff !== undefined && nextDueAt !== null && nextDueAt <= draft.now;
  return isDue ? { ...woken, changed: true } : woken;
}

const isExpiry = (note: Note): note is ExpiryNote =>
  note.type === 'DeadlineExpired' || note.type === 'OrderReset' || note.type === 'ThresholdExceeded';
