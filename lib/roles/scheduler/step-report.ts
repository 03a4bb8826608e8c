import { definitionPath, isUndoPath, undonePath, undoPathOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Result, State, Status } from '#core/data/state';
import { type Activity, isRemote } from '#core/definition/definition';
import { nodeAt, type Program, wakeAtOf } from '#core/definition/program';
import { isFollowed, pauseOf, questionIn, type Wait, waitOf } from '#core/views/waits';
import type { Page } from '#ports/store';
import type { JournalEntry, StoredEntry } from './instance.ts';
import { shownLine } from './recorded-events.ts';

/** The progress of one activity. Times are milliseconds since 1970. */
interface Progress {
  readonly status: Status;
  readonly result: Result | null;
  /** Number of requests to the agent. */
  readonly attempts: number;
  readonly completeBy: number | null;
  readonly startedAt: number | null;
  readonly closedAt: number | null;
  /** The time of its first request, or of the first request after the order was blocked at this activity. */
  readonly requestedAt: number | null;
  /** The time at which its answer arrived. A step closes later than that if the order was blocked or suspended then. */
  readonly answeredAt: number | null;
  readonly output: Json;
  /** An instruction closed it. `done`: a person did it by hand. `none`: nobody did it. Absent if no instruction closed it. */
  readonly skipped?: 'none' | 'done';
}

/** The progress of one step. */
export interface StepReport extends Progress {
  readonly path: string;
  readonly name: string;
  readonly agent: string;
  readonly operation: string;
}

/** The progress of a step or of a wait. A wait has no agent, and its `completeBy` is the end of its time. */
export interface ActivityReport extends Progress {
  readonly path: string;
  readonly name: string;
  readonly activity: Activity['activity'];
  readonly agent: string | null;
  readonly operation: string | null;
  /** Null for a step that waits for its agent. A step may also pause before its next request: then it waits for a time. */
  readonly waitsFor: Wait | null;
}

/** Returns the whole journal as it is shown, oldest first. */
export const wholeJournal = (pages: readonly Page[], tail: readonly StoredEntry[]): readonly JournalEntry[] =>
  storedJournal(pages, tail).map(shownLine) as readonly JournalEntry[];

/** Returns the whole journal as it is stored, oldest first. A page may repeat entries of another page or of the tail. */
export function storedJournal(pages: readonly Page[], tail: readonly StoredEntry[]): readonly StoredEntry[] {
  if (pages.length === 0) return tail;
  const entries = new Map<number, StoredEntry>();
  for (const entry of [...(pages.flat() as unknown as StoredEntry[]), ...tail]) entries.set(entry.seq, entry);
  return [...entries.values()].sort((a, b) => a.seq - b.seq);
}

/**
 * Returns the progress of each step in the sequence of the definition, from the journal and the state. Includes steps that
 * have not started; a step in a loop is listed once for each turn.
 */
export const stepsOf = (program: Program, journal: readonly JournalEntry[], state: State | undefined): readonly StepReport[] =>
  listed(program, journal, state, isRemote).flatMap(({ path, name, node, progress }) =>
    isRemote(node) ? [{ path, name, agent: node.agent, operation: node.operation, ...progress }] : [],
  );

/** Returns the progress of each step and of each wait, as `stepsOf` does. `childOf` returns the id of a called order. */
export const followedOf = (
  program: Program,
  journal: readonly JournalEntry[],
  state: State | undefined,
  childOf: (path: string) => string | null,
): readonly ActivityReport[] =>
  listed(program, journal, state, isFollowed).map(({ path, name, node, progress, question }) => {
    const { agent, operation } = isRemote(node) ? node : { agent: null, operation: null };
    const activity = state?.activities[path];
    // A rule or the failure limit may have a step wait before its next request.
    const pause = isRemote(node) ? pauseOf(node, activity) : undefined;
    const until = isRemote(node) || !activity ? pause : wakeAtOf(program, path, activity);
    const wait = waitOf(node, { question, orderId: progress.attempts > 0 ? childOf(path) : null }) ?? null;
    return {
      path,
      name,
      activity: node.activity,
      agent,
      operation,
      waitsFor: pause === undefined ? wait : { kind: 'time' },
      ...progress,
      ...(until === undefined ? {} : { completeBy: until }),
    };
  });

interface Listed {
  readonly path: string;
  readonly name: string;
  readonly node: Activity;
  readonly progress: Progress;
  readonly question: string | null;
}

function listed(
  program: Program,
  journal: readonly JournalEntry[],
  state: State | undefined,
  isListed: (node: Activity) => boolean,
): readonly Listed[] {
  const courses = coursesIn(journal);
  const turns = Map.groupBy(courses.keys(), definitionPath);
  const { nodes } = program;
  // A rule gave the undo, and was removed after the undo had ended: the program of the order no longer contains the undo.
  const removedUndo = (path: string, node: Activity): readonly (readonly [string, Activity])[] => {
    const undo = undoPathOf(path);
    return isRemote(node) && !nodes.has(undo) && turns.has(undo) ? [[undo, nodeAt(program, undo)]] : [];
  };
  const all = [...nodes].flatMap(([path, node]): readonly (readonly [string, Activity])[] => [[path, node], ...removedUndo(path, node)]);
  return all.flatMap(([nodePath, node]) => {
    if (!isListed(node)) return [];
    // An undo is listed as soon as the journal mentions it.
    const done = isUndoPath(nodePath) ? nodes.get(undonePath(nodePath)) : undefined;
    return (turns.get(nodePath) ?? (done ? [] : [nodePath])).map((path) => {
      const { question, wasBlocked: _, ...course } = withStatus(courses.get(path) ?? notStarted, state?.activities[path]?.status);
      const progress = { ...course, answeredAt: course.answeredAt ?? answerTimeOf(course) };
      return { path, name: done ? `undo of ${done.name}` : node.name, node, progress, question };
    });
  });
}

/** The progress so far, while the journal is read. */
interface Course extends Progress {
  /** The order was blocked here since the last request. */
  readonly wasBlocked: boolean;
  readonly question: string | null;
}

function coursesIn(journal: readonly JournalEntry[]): ReadonlyMap<string, Course> {
  const courses = new Map<string, Course>();
  for (const entry of journal) {
    if (!('path' in entry) || entry.path === undefined) continue;
    const { path } = entry;
    courses.set(path, after(courses.get(path) ?? notStarted, entry));
    // A person has undone the step by hand, and its undo is not requested again.
    const undo = entry.type === 'MarkedCompensated' ? courses.get(undoPathOf(path)) : undefined;
    if (undo) courses.set(undoPathOf(path), { ...undo, skipped: 'done' });
    if (entry.type !== 'ActivityClosed' || entry.result !== 'Compensated' || !isUndoPath(path)) continue;
    const done = courses.get(undonePath(path));
    if (done) courses.set(undonePath(path), { ...done, result: 'Compensated' });
  }
  return courses;
}

const notStarted: Course = {
  status: 'Initialized',
  result: null,
  attempts: 0,
  completeBy: null,
  startedAt: null,
  closedAt: null,
  requestedAt: null,
  answeredAt: null,
  output: null,
  wasBlocked: false,
  question: null,
};

function after(course: Course, entry: JournalEntry): Course {
  const { at } = entry;
  switch (entry.type) {
    case 'ActivityStarted':
      return { ...begun(course, at), status: 'Executing' };
    case 'StepRequested':
      return { ...requested(begun(course, at), at), completeBy: entry.completeBy };
    case 'StepExtended':
      return { ...course, completeBy: entry.completeBy };
    case 'ActivitySkipped':
      return entry.effect === 'kept' ? course : { ...course, skipped: entry.effect };
    case 'ReplyRecorded':
      return { ...course, answeredAt: at };
    case 'ActivityClosed':
      return { ...course, status: 'Closed', result: entry.result, closedAt: at, output: entry.output ?? null };
    case 'FaultRaised':
      return { ...course, question: questionIn(entry.fault) ?? course.question };
    case 'OrderBlocked':
      return { ...course, status: 'Faulting', wasBlocked: true, question: questionIn(entry.fault) ?? course.question };
    case 'OrderUnblocked':
      return { ...course, status: 'Executing' };
  }
  return course;
}

/** Starts an activity. If it was closed before, its old result no longer counts. */
const begun = (course: Course, at: number): Course =>
  course.status === 'Closed'
    ? { ...notStarted, attempts: course.attempts, startedAt: at }
    : { ...course, startedAt: course.startedAt ?? at };

/** Counts a request. The time that a person needed to resubmit the step is not a part of its duration. */
const requested = (course: Course, at: number): Course => ({
  ...course,
  status: 'Executing',
  attempts: course.attempts + 1,
  requestedAt: course.wasBlocked ? at : (course.requestedAt ?? at),
  answeredAt: null,
  wasBlocked: false,
});

/** Returns the time of an answer that closed the step at once. */
const answerTimeOf = ({ requestedAt, closedAt, result }: Progress): number | null =>
  requestedAt !== null && (result === 'Succeeded' || result === 'Compensated') ? closedAt : null;

/** Takes the status of an active activity from the state, which is newer than the journal. */
const withStatus = (course: Course, status: Status | undefined): Course =>
  status === undefined ? course : { ...course, status, result: null, closedAt: null };
