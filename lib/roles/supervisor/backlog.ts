import { timeText } from '#ports/messages';
import type { QueueDepth } from '#ports/queues';
import type { OutboxEntry } from '#ports/records';

/** Fewer are taken with the next batches; and one message that is delivered again and again is old, too. */
const manyMin = 20;
/** Of a step's time: what has waited for so long leaves its step too little. */
const shareOfStep = 0.5;
const coveredSteps = 10;
const coveredMinMs = 600_000;
/** While it lasts, people are told once in so long. */
const announceEveryMs = 3_600_000;

/** What the system is behind with, and what is noted of it at the orders that wait for that. */
export interface Backlog {
  /** A queue, or `deadlines`. */
  readonly source: string;
  readonly reason: string;
}

export const isFull = ({ visible }: QueueDepth): boolean => visible >= manyMin;

/** Whether what was answered in time may lie there unread. `fullForMs`: for so long it has been seen full; not every queue knows an age. */
export const isBackedUp = (depth: QueueDepth, fullForMs: number, stepMs: number): boolean =>
  isFull(depth) && Math.max(depth.oldestAgeMs, fullForMs) >= shareOfStep * stepMs;

/** What has been seen of what is due. */
export interface Lateness {
  /** Steps and claims that are past their time. */
  readonly late: number;
  /** Those of them that are late by more than a period of the supervisor. */
  readonly overdue: number;
}

/** In good weather a pass sees what is late within a period: where most is later than that, nobody has looked, or all is slow. */
export const isBehind = ({ late, overdue }: Lateness): boolean => late >= manyMin && 2 * overdue > late;

/**
 * Who has waited since then for his answer is excused no longer, however much lies there: an agent that is silent must come to
 * light, and an order must not wait for good. Ten steps' time, and never less than a person needs to see to it.
 */
export const isCoveredByOutage = (waitingSince: number, stepMs: number, now: number): boolean =>
  now - waitingSince < Math.max(coveredSteps * stepMs, coveredMinMs);

/** The same for whoever tells it in the same hour. */
export function backlogAlert({ source, reason }: Backlog, now: number): OutboxEntry {
  const id = `backlog/${source}/${Math.floor(now / announceEveryMs)}`;
  const detail = {
    id,
    at: timeText(now),
    class: 'basic-failure',
    type: 'Backlogged',
    source,
    before: 'running',
    after: 'running',
    failureCount: 0,
    message: `The system is behind: ${reason}. Orders that wait for it are given more time, and count no failure for a while.`,
  };
  return { id, kind: 'announcement', detailType: 'Service Exception', detail };
}
