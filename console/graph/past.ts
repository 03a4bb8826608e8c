import type { HistoryEntry, Order, Step } from '../api/types.ts';
import { isUndo, type Known } from './look.ts';

/** The steps of an order as they were at an entry of its history. */
export interface Past {
  readonly at: string;
  readonly steps: readonly Known[];
  readonly fault: { readonly type: string; readonly source: string | null } | null;
  /** Paths of all activities that an entry names: begun or skipped. */
  readonly reached: ReadonlySet<string>;
}

/** The state of one activity, changed by each entry that is read. */
interface Course {
  status: Step['status'];
  result: Step['result'];
  attempts: number;
  startedAt: string | null;
  closedAt: string | null;
  isSkipped?: boolean;
  isUnknown?: boolean;
}

const notBegun = (): Course => ({ status: 'Initialized', result: null, attempts: 0, startedAt: null, closedAt: null });

/** Returns the state after the first `count` entries, by the same rules as the steps of `GET /orders/{id}`. */
export function pastOf(order: Pick<Order, 'steps'>, entries: readonly HistoryEntry[], count: number): Past {
  const courses = new Map<string, Course>();
  let fault: Past['fault'] = null;
  for (const entry of entries.slice(0, count)) {
    const { path, type } = entry;
    if (path === undefined) continue;
    const course = courses.get(path) ?? notBegun();
    courses.set(path, course);
    apply(course, entry);
    if (type === 'OrderBlocked') fault = { type: faultType(entry), source: path };
    if (type === 'OrderUnblocked') fault = null;
    const undone = courses.get(path.replace(/\/undo$/, ''));
    if (type === 'ActivityClosed' && entry['result'] === 'Compensated' && isUndo(path) && undone) undone.result = 'Compensated';
  }
  const steps = order.steps
    .filter(({ path }) => !isUndo(path) || courses.has(path))
    .map(({ path, activity }) => ({ path, activity, ...(courses.get(path) ?? notBegun()) }));
  return { at: entries[count - 1]?.at ?? '', steps, fault, reached: new Set(courses.keys()) };
}

const faultType = (entry: HistoryEntry): string => (entry['fault'] as { type?: string } | undefined)?.type ?? '';

function begin(course: Course, at: string): void {
  if (course.status === 'Closed') Object.assign(course, notBegun(), { attempts: course.attempts });
  course.startedAt ??= at;
  course.status = 'Executing';
}

function apply(course: Course, entry: HistoryEntry): void {
  switch (entry.type) {
    case 'ActivityStarted':
      return begin(course, entry.at);
    case 'StepRequested':
      begin(course, entry.at);
      course.attempts += 1;
      return;
    case 'ActivityClosed':
      course.status = 'Closed';
      course.result = entry['result'] as Step['result'];
      course.closedAt = entry.at;
      return;
    case 'ActivitySkipped':
      course.isSkipped = true;
      return;
    case 'OutcomeUnknown':
      course.isUnknown = true;
      return;
    case 'CancelRequested':
      course.status = 'Canceling';
      return;
    case 'OrderBlocked':
      course.status = 'Faulting';
      return;
    case 'OrderUnblocked':
      course.status = 'Executing';
  }
}
