import type { Program } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';
import { isAt } from '#core/engine/undo-pages';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { ObjectWrite } from './consumers.ts';

/** Returns what an activity and the activities inside it have written, from the journal of its order, with the time of each undo. */
export const writesOf = (program: Program, orderId: string, journal: readonly JournalEntry[], path: string): readonly ObjectWrite[] =>
  writesIn(program, orderId, journal, (each) => isAt(each, path));

/** Returns what the activities of a scope have written. */
export function writesIn(
  program: Program,
  orderId: string,
  journal: readonly JournalEntry[],
  isInScope: (path: string) => boolean,
): readonly ObjectWrite[] {
  return journal.flatMap((entry) => {
    if (entry.type !== 'ObjectsUsed' || !isInScope(entry.path)) return [];
    const undone = journal.find((later) => later.seq > entry.seq && isUndoOf(program, later, entry.path));
    const times = { requestedAt: entry.requestedAt ?? entry.at, at: entry.at, ...(undone ? { undoneAt: undone.at } : {}) };
    return (entry.writes ?? []).map((object) => ({ object, orderId, ...times }));
  });
}

/** Returns the activity that an entry says is undone. */
export function undoneIn(program: Program, entry: JournalEntry): string | undefined {
  if (entry.type === 'MarkedCompensated') return entry.path;
  return entry.type === 'ActivityClosed' && entry.result === 'Compensated' ? undoneBy(program, entry.path) : undefined;
}

/** Whether an entry says that an activity is undone, alone or with a composite around it. */
export function isUndoOf(program: Program, entry: JournalEntry, path: string): boolean {
  const undone = undoneIn(program, entry);
  return undone !== undefined && isAt(path, undone);
}

/** Whether an order has undone a step after a line of its journal. */
export const isUndoneAfter = (program: Program, journal: readonly JournalEntry[], { seq }: JournalEntry, path: string): boolean =>
  journal.some((line) => line.seq > seq && isUndoOf(program, line, path));
