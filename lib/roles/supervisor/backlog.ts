import type { QueueDepth } from '#ports/queues';
import type { OutboxEntry } from '#ports/records';
import { alertEntryOf } from '#ports/util/alert';

/**
 * The fewest waiting messages, or late steps, that count as a backlog. The next batches clear a smaller one, and a single old message
 * may be one that is redelivered again and again.
 */
const manyMin = 20;
/** Share of a step's timeout. A reply that has waited longer leaves its step too little time. */
const shareOfStep = 0.5;
/** A backlog excuses a step for this many step timeouts, and at least for `coveredMinMs`. */
const coveredSteps = 10;
const coveredMinMs = 600_000;
/** Interval between alerts while a backlog lasts. */
const announceEveryMs = 3_600_000;

/** A part of the system that is behind, and the reason that is recorded in the orders which it makes late. */
export interface Backlog {
  /** A queue, or `deadlines`. */
  readonly source: string;
  readonly reason: string;
}

export const isFull = ({ visible }: QueueDepth): boolean => visible >= manyMin;

/**
 * Whether replies that came in time may still be unread. `fullForMs`: how long the queue has been seen full, because not
 * every queue reports the age of its messages.
 */
export const isBackedUp = (depth: QueueDepth, fullForMs: number, stepMs: number): boolean =>
  isFull(depth) && Math.max(depth.oldestAgeMs, fullForMs) >= shareOfStep * stepMs;

/** The late steps that one pass has seen. */
export interface Lateness {
  /** Number of steps and claims after their deadline. */
  readonly late: number;
  /** Number of those that are late by more than one period of the supervisor. */
  readonly overdue: number;
}

/** Whether the system is behind. A healthy pass finds late steps within one period; if most are later, agents are not to blame. */
export const isBehind = ({ late, overdue }: Lateness): boolean => late >= manyMin && 2 * overdue > late;

/**
 * Whether a backlog still explains a step that has waited since `waitingSince`. It does for ten step timeouts, and at least for ten
 * minutes, in which a person can react. After that time, expiries count again, so that a silent agent is noticed and no order waits without end.
 */
export const isCoveredByOutage = (waitingSince: number, stepMs: number, now: number): boolean =>
  now - waitingSince < Math.max(coveredSteps * stepMs, coveredMinMs);

/** Builds the alert about a backlog. Alerts of the same hour have the same id, so that they count as one. */
export function backlogAlert({ source, reason }: Backlog, now: number): OutboxEntry {
  const id = `backlog/${source}/${Math.floor(now / announceEveryMs)}`;
  return alertEntryOf('Service Exception', {
    id,
    at: now,
    type: 'Backlogged',
    source,
    before: 'running',
    after: 'running',
    message: `The system is behind: ${reason}. Late steps get more time, and count no failures for a while. The runbook says what to do: QueueBackedUp.`,
  });
}
