import { isUndoPath, undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Result, State, Status } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { definitionPath, type Program } from '#core/definition/program';
import type { Page } from '#ports/store';
import type { JournalEntry } from './instance.ts';

/** The progress of one step. Times are milliseconds since 1970. */
export interface StepReport {
  readonly path: string;
  readonly name: string;
  readonly agent: string;
  readonly operation: string;
  readonly status: Status;
  readonly result: Result | null;
  /** Number of requests to the agent. */
  readonly attempts: number;
  readonly completeBy: number | null;
  readonly startedAt: number | null;
  readonly closedAt: number | null;
  readonly output: Json;
}

/** Returns the whole journal, oldest first. A page may repeat entries of another page or of the tail. */
export function wholeJournal(pages: readonly Page[], tail: readonly JournalEntry[]): readonly JournalEntry[] {
  if (pages.length === 0) return tail;
  const entries = new Map<number, JournalEntry>();
  for (const entry of [...(pages.flat() as unknown as JournalEntry[]), ...tail]) entries.set(entry.seq, entry);
  return [...entries.values()].sort((a, b) => a.seq - b.seq);
}

/**
 * Returns the progress of each step in the order of the definition, from the journal and the state. Includes steps that
 * have not started; a step in a loop is listed once for each iteration.
 */
export function stepsOf({ nodes }: Program, journal: readonly JournalEntry[], state: State | undefined): readonly StepReport[] {
  const courses = new Map<string, Course>();
  for (const entry of journal) {
    if (!('path' in entry) || entry.path === undefined) continue;
    const { path } = entry;
    courses.set(path, after(courses.get(path) ?? notStarted, entry));
    if (entry.type !== 'ActivityClosed' || entry.result !== 'Compensated' || !isUndoPath(path)) continue;
    const done = courses.get(undonePath(path));
    if (done) courses.set(undonePath(path), { ...done, result: 'Compensated' });
  }
  const turns = Map.groupBy(courses.keys(), definitionPath);
  return [...nodes].flatMap(([nodePath, node]) => {
    if (!isRemote(node)) return [];
    const { name, agent, operation } = node;
    // An undo is listed only after it has begun: the journal mentions it then.
    const done = isUndoPath(nodePath) ? nodes.get(undonePath(nodePath)) : undefined;
    return (turns.get(nodePath) ?? (done ? [] : [nodePath])).map((path) => ({
      path,
      name: done ? `undo of ${done.name}` : name,
      agent,
      operation,
      ...alive(courses.get(path) ?? notStarted, state?.activities[path]?.status),
    }));
  });
}

type Course = Omit<StepReport, 'path' | 'name' | 'agent' | 'operation'>;

const notStarted: Course = {
  status: 'Initialized',
  result: null,
  attempts: 0,
  completeBy: null,
  startedAt: null,
  closedAt: null,
  output: null,
};

function after(course: Course, entry: JournalEntry): Course {
  const { at } = entry;
  switch (entry.type) {
    case 'ActivityStarted':
      return { ...begun(course, at), status: 'Executing' };
    case 'StepRequested':
      return { ...begun(course, at), status: 'Executing', attempts: course.attempts + 1, completeBy: entry.completeBy };
    case 'StepExtended':
      return { ...course, completeBy: entry.completeBy };
    case 'ActivityClosed':
      return { ...course, status: 'Closed', result: entry.result, closedAt: at, output: entry.output ?? null };
    case 'OrderBlocked':
      return { ...course, status: 'Faulting' };
    case 'OrderUnblocked':
      return { ...course, status: 'Executing' };
  }
  return course;
}

/** Starts a step. If it was closed before, its old result no longer counts. */
const begun = (course: Course, at: number): Course =>
  course.status === 'Closed'
    ? { ...notStarted, attempts: course.attempts, startedAt: at }
    : { ...course, startedAt: course.startedAt ?? at };

/** Sets the status of an active step, which is newer than the journal. */
const alive = (course: Course, status: Status | undefined): Course =>
  status === undefined ? course : { ...course, status, result: null, closedAt: null };
