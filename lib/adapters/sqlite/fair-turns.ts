import type { Database } from './database.ts';

/** A row of the messages table. `grp` is empty for a message without a group. */
export interface VisibleMessage {
  readonly id: number;
  readonly body: string;
  readonly receiveCount: number;
  readonly sentAt: number;
  readonly grp: string;
}

/** Returns up to `max` visible messages of a queue. */
export type VisibleMessages = (queue: string, now: number, max: number) => readonly VisibleMessage[];

const columns = 'id, body, receiveCount, sentAt, grp';

/**
 * Chooses visible messages fairly: groups of messages take turns, and within a group the oldest message is first. If one receive takes all
 * visible messages, turns do not matter and groups are not read. This process alone knows the group of the next turn: other processes of
 * the folder take turns of their own.
 */
export function visibleMessages(database: Database): VisibleMessages {
  const selectAll = database.prepare(`SELECT ${columns} FROM messages WHERE queue = ? AND visibleAt <= ? ORDER BY visibleAt, id LIMIT ?`);
  // The index alone answers this. Only chosen messages have their bodies read.
  const selectOf = database.prepare(
    'SELECT id FROM messages WHERE queue = ? AND grp = ? AND visibleAt <= ? ORDER BY visibleAt, id LIMIT ?',
  );
  const selectOne = database.prepare(`SELECT ${columns} FROM messages WHERE id = ?`);
  const selectFollowing = database.prepare('SELECT min(grp) AS grp FROM messages WHERE queue = ? AND grp > ?');
  const selectFirst = database.prepare('SELECT min(grp) AS grp FROM messages WHERE queue = ?');
  const selectAny = database.prepare('SELECT 1 FROM messages WHERE queue = ? AND grp = ? AND visibleAt <= ? LIMIT 1');
  /** The group that was served last, by queue. */
  const served = new Map<string, string>();

  const nextGroup = (queue: string, last: string): string | undefined => {
    const following = (selectFollowing.get(queue, last) as { grp: string | null }).grp;
    return following ?? (selectFirst.get(queue) as { grp: string | null }).grp ?? undefined;
  };

  /** Returns the groups with visible messages, in turn, from the group `first` on. */
  const groupsInTurn = (queue: string, now: number, first: string | undefined, max: number): readonly string[] => {
    const groups: string[] = [];
    let group = first;
    while (group !== undefined && groups.length < max) {
      if (selectAny.get(queue, group, now)) groups.push(group);
      group = nextGroup(queue, group);
      if (group === first) break;
    }
    return groups;
  };

  return (queue, now, max) => {
    const all = selectAll.all(queue, now, max + 1) as unknown as VisibleMessage[];
    if (all.length <= max) return all;
    // Before the first turn, the group with the oldest message begins.
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

/** Takes the first of each list, then the second of each, up to `max`. */
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
