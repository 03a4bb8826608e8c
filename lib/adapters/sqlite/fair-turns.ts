import type { Database } from './database.ts';

/** A row of the table of messages; without a group, `grp` is empty. */
export interface VisibleMessage {
  readonly id: number;
  readonly body: string;
  readonly receiveCount: number;
  readonly sentAt: number;
  readonly grp: string;
}

/** Up to `max` visible messages of a queue. */
export type VisibleMessages = (queue: string, now: number, max: number) => readonly VisibleMessage[];

const columns = 'id, body, receiveCount, sentAt, grp';

/**
 * What is visible, fairly: each group has its turn, and within a group whoever waits longest. Where all that waits is taken
 * at once, nobody's turn matters, and nobody is asked for it. Whose turn is next is remembered by this process alone.
 */
export function visibleMessages(database: Database): VisibleMessages {
  const selectAll = database.prepare(`SELECT ${columns} FROM messages WHERE queue = ? AND visibleAt <= ? ORDER BY visibleAt, id LIMIT ?`);
  // The index alone answers this: bodies are read of those that are taken.
  const selectOf = database.prepare(
    'SELECT id FROM messages WHERE queue = ? AND grp = ? AND visibleAt <= ? ORDER BY visibleAt, id LIMIT ?',
  );
  const selectOne = database.prepare(`SELECT ${columns} FROM messages WHERE id = ?`);
  const selectBehind = database.prepare('SELECT min(grp) AS grp FROM messages WHERE queue = ? AND grp > ?');
  const selectFirst = database.prepare('SELECT min(grp) AS grp FROM messages WHERE queue = ?');
  const selectIsAny = database.prepare('SELECT 1 FROM messages WHERE queue = ? AND grp = ? AND visibleAt <= ? LIMIT 1');
  /** Of each queue, the group that was served last. */
  const served = new Map<string, string>();

  const nextGroup = (queue: string, last: string): string | undefined => {
    const behind = (selectBehind.get(queue, last) as { grp: string | null }).grp;
    return behind ?? (selectFirst.get(queue) as { grp: string | null }).grp ?? undefined;
  };

  /** Once around, from the one whose turn it is: those of whom something is visible. */
  const groupsInTurn = (queue: string, now: number, first: string | undefined, max: number): readonly string[] => {
    const groups: string[] = [];
    let group = first;
    while (group !== undefined && groups.length < max) {
      if (selectIsAny.get(queue, group, now)) groups.push(group);
      group = nextGroup(queue, group);
      if (group === first) break;
    }
    return groups;
  };

  return (queue, now, max) => {
    const all = selectAll.all(queue, now, max + 1) as unknown as VisibleMessage[];
    if (all.length <= max) return all;
    // Nobody had a turn yet: it begins with whoever waits longest.
    const last = served.get(queue);
    const groups = groupsInTurn(queue, now, last === undefined ? all[0]?.grp : nextGroup(queue, last), max);
    const ids = inTurns(
      groups.map((group) => selectOf.all(queue, group, now, max)),
      max,
    );
    const rows = ids.map((row) => selectOne.get(row['id'] ?? null) as unknown as VisibleMessage);
    const latest = rows.at(-1);
    if (latest) served.set(queue, latest.grp);
    return rows;
  };
}

/** One of each, then the second of each, until there are enough. */
function inTurns<T>(lists: readonly (readonly T[])[], max: number): readonly T[] {
  const taken: T[] = [];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let turn = 0; turn < longest; turn++)
    for (const list of lists) {
      const one = list[turn];
      if (one !== undefined && taken.length < max) taken.push(one);
    }
  return taken;
}
