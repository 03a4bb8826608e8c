import { type Breaker, phaseOf, releaseTimeOf } from '#ports/circuit-breaker';
import type { DueFor, Note, OutboxEntry, StateHead } from '#ports/records';
import type { People } from '#ports/tasks';
import { longWaitMs, outboxMs } from '#roles/scheduler/deadlines';
import { type Backlog, backlogAlert } from './backlog.ts';
import { escalate } from './escalate.ts';

/** An outage, and the reason that is noted in the orders which it makes late. */
export interface Outage {
  readonly record: Breaker;
  readonly reason: string;
}

/** The action of the supervisor for one order. `next` is the head to write; it keeps the `rev` of the head that was read. */
export type Decision =
  | { readonly kind: 'leave' }
  /** The scheduler finds out itself what is due. `deadline` names the deadline: repeated wake-ups for it have the same name. */
  | { readonly kind: 'wake'; readonly deadline: string }
  /** The order is due later than the worklist says. */
  | { readonly kind: 'move'; readonly next: StateHead }
  /** A deadline has passed: look for an outage or a backlog before it counts. */
  | { readonly kind: 'late' }
  /** The step is late because of an outage or a backlog, so no failure counts. */
  | {
      readonly kind: 'postpone';
      readonly next: StateHead;
      readonly wakes: boolean;
      /** The agent whose service this order probes. */
      readonly probes?: string;
      /** The first order of a backlog carries the alert about it. */
      readonly announces?: Backlog & { readonly alertId: string };
    }
  | { readonly kind: 'count'; readonly next: StateHead; readonly wakes: boolean; readonly failures: number; readonly intoError: boolean };

const leave: Decision = { kind: 'leave' };

/** The only deadlines of a suspended order: it sends its outbox, asks for its handler, and takes up messages that came during a lock. */
const dueWhileSuspended: ReadonlySet<DueFor['kind']> = new Set(['outbox', 'handler', 'lock']);

/** Decides about an order whose id came from the worklist. The head decides, because the entry of the worklist may be out of date. */
export function judgeDue(head: StateHead | undefined, now: number, clockToleranceMs: number): Decision {
  if (!head || head.nextDueAt === null || head.nextDueFor === null || head.nextDueFor.kind === 'reminder') return leave;
  if (head.nextDueAt > now) return moveEntry(head, head.nextDueAt);
  if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now)
    return { kind: 'move', next: withDeadline(head, head.heldUntil, 'another host holds the lease', now) };
  if (head.suspended && !dueWhileSuspended.has(head.nextDueFor.kind)) return leave;

  const isCounted = head.nextDueFor.kind === 'step' || head.nextDueFor.kind === 'claim';
  if (!isCounted) return { kind: 'wake', deadline: `${head.nextDueFor.kind}@${head.nextDueAt}` };
  return head.nextDueAt + clockToleranceMs > now ? leave : { kind: 'late' };
}

/**
 * Decides about a late step during an outage. The step is requested again when it is released; `isProbed`: another order already probes the
 * service.
 */
export function judgeOutage(head: StateHead, { record, reason }: Outage, { now, isProbed }: { now: number; isProbed: boolean }): Decision {
  const waitingSince = waitingSinceOf(head);
  const isOpen = phaseOf(record, now) === 'open';
  const releasedAt = releaseTimeOf(record, waitingSince);
  if (releasedAt <= now && !(isOpen && isProbed)) {
    const at = now + head.stepMs;
    const next: StateHead = {
      ...head,
      nextDueAt: at,
      nextDueFor: { ...withoutPutOff(head.nextDueFor, record.agent), kind: 'request', waitingSince },
      worklistAt: at,
    };
    return { kind: 'postpone', next, wakes: true, probes: record.agent };
  }
  // The pause grows with the outage, to save writes.
  const until = isOpen ? now + Math.max(head.stepMs, (now - record.openedAt) / 4) : releasedAt;
  return putOff(withWaitingSince(head, waitingSince), Math.round(until), reason, now);
}

/** Decides about a late step because of a backlog. `isAnnounced`: an alert about this backlog was sent within the hour. */
export function judgeBacklog(
  head: StateHead,
  backlog: Backlog,
  { now, isAnnounced }: { now: number; isAnnounced: (alertId: string) => boolean },
): Decision {
  const late = withWaitingSince(head, waitingSinceOf(head));
  const alert = backlogAlert(backlog, now);
  if (isAnnounced(alert.id) || head.outbox.some(({ id }) => id === alert.id)) return putOff(late, now + head.stepMs, backlog.reason, now);
  // The scheduler sends the alert from the outbox of this order.
  const alerting: StateHead = {
    ...late,
    outbox: [...head.outbox, alert satisfies OutboxEntry],
    nextDueFor: { ...late.nextDueFor, kind: 'outbox' },
  };
  const next = withDeadline(alerting, now + outboxMs, backlog.reason, now);
  return { kind: 'postpone', next, wakes: true, announces: { ...backlog, alertId: alert.id } };
}

/** Counts an expired deadline against a step, or against a claim. Above the limit, the workflow's `onExhausted` decides. */
export function judgeExpiry(head: StateHead, now: number, people?: People): Extract<Decision, { kind: 'count' }> {
  const failures = (head.nextDueFor?.failures ?? 0) + 1;
  const failureCount = Math.max(head.failureCount, failures);
  const exhausted = failures > head.maxFailures;
  const path = head.nextDueFor?.path;
  const place = path === undefined ? {} : { path };

  // An order that is reset as a whole has no step that could fault.
  const intoError = exhausted && (head.onExhausted === 'error' || (head.onExhausted === 'fault' && head.nextDueFor?.kind === 'claim'));
  if (intoError) {
    const next = escalate(head, failures, now, { at: now, type: 'ThresholdExceeded', ...place, failureCount: failures }, people);
    return { kind: 'count', next, wakes: true, failures, intoError };
  }
  const waits = exhausted && head.onExhausted === 'wait';
  const due = now + (waits ? (head.longWaitMs ?? longWaitMs) : head.stepMs);
  if (head.nextDueFor?.kind === 'claim' && !exhausted)
    return { kind: 'count', next: reset(head, { failures, failureCount, now, due }), wakes: true, failures, intoError };
  const next: StateHead = {
    ...head,
    failureCount,
    notes: [...head.notes, { at: now, type: 'DeadlineExpired', ...place, failureCount: failures }],
    nextDueAt: due,
    nextDueFor: { ...head.nextDueFor, kind: 'request', failures },
    worklistAt: due,
  };
  return { kind: 'count', next: waits ? untilWake(next) : next, wakes: !waits, failures, intoError };
}

interface Reset {
  readonly failures: number;
  readonly failureCount: number;
  readonly now: number;
  readonly due: number;
}

/** Takes the order from its scheduler, for another one to claim (F-50). */
const reset = (head: StateHead, { failures, failureCount, now, due }: Reset): StateHead => ({
  ...head,
  processState: 'Pending',
  lockedBy: null,
  epoch: head.epoch + 1,
  completeBy: due,
  failureCount,
  notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: failures }],
  nextDueAt: now,
  nextDueFor: { kind: 'unclaimed' },
  worklistAt: now,
});

/** Moves a worklist entry that is too early, because other writes only move it to an earlier time. */
const moveEntry = (head: StateHead, worklistAt: number): Decision =>
  head.worklistAt === worklistAt ? leave : { kind: 'move', next: { ...head, worklistAt } };

/** Moves the deadline. Notes the reason, unless the last note says the same. */
function withDeadline(head: StateHead, at: number, reason: string, now: number): StateHead {
  const path = head.nextDueFor?.path;
  const note: Note = { at: now, type: 'DeadlineMoved', ...(path ? { path } : {}), reason };
  const last = head.notes.at(-1);
  const isNoted = last?.type === 'DeadlineMoved' && last.path === note.path && last.reason === reason;
  return { ...head, nextDueAt: at, worklistAt: at, notes: isNoted ? head.notes : [...head.notes, note] };
}

/**
 * Puts off the late steps of the agent that the deadline names. The other steps of the order continue. If one of these is due already, the
 * scheduler is woken to give the order the deadline of that step.
 */
function putOff(head: StateHead, until: number, reason: string, now: number): Decision {
  const { nextDueFor } = head;
  const moved = withDeadline(head, until, reason, now);
  if (!nextDueFor?.agent || nextDueFor.kind !== 'step') return { kind: 'postpone', next: untilWake(moved), wakes: false };
  const entry = { until, waitingSince: waitingSinceOf(head) };
  const next = untilWake({ ...moved, nextDueFor: { ...nextDueFor, putOff: { ...nextDueFor.putOff, [nextDueFor.agent]: entry } } });
  return { kind: 'postpone', next, wakes: next.nextDueAt !== null && next.nextDueAt <= now };
}

function withoutPutOff(due: StateHead['nextDueFor'], agent: string): Partial<DueFor> {
  const { putOff: all = {}, ...rest } = due ?? {};
  const { [agent]: _, ...others } = all;
  return Object.keys(others).length === 0 ? rest : { ...rest, putOff: others };
}

/**
 * Moves the deadline to an earlier time at which a timer ends, rules are to be asked or a step of another agent is late, if there is one. A
 * step that waits for a new request continues to wait.
 */
function untilWake(head: StateHead): StateHead {
  const { wakeAt, ...due } = head.nextDueFor ?? { kind: 'step' };
  if (wakeAt === undefined || head.nextDueAt === null || wakeAt >= head.nextDueAt) return head;
  const waits = due.kind === 'request' ? { waitsUntil: head.nextDueAt } : {};
  return { ...head, nextDueAt: wakeAt, nextDueFor: { ...due, ...waits, kind: 'rule' }, worklistAt: wakeAt };
}

const withWaitingSince = (head: StateHead, waitingSince: number): StateHead =>
  head.nextDueFor ? { ...head, nextDueFor: { ...head.nextDueFor, waitingSince } } : head;

/** Returns the time since when the step has waited for its reply. */
export const waitingSinceOf = ({ nextDueAt, nextDueFor, completeBy, stepMs }: StateHead): number => {
  const dueAt = nextDueAt ?? 0;
  return nextDueFor?.waitingSince ?? Math.min(completeBy ?? dueAt, dueAt) - stepMs;
};
