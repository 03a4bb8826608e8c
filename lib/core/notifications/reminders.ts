import type { People } from '#core/definition/people';

/** A task, as far as its reminders depend on it. Times are milliseconds since 1970; `every` is a number of seconds. */
export interface RemindedTask extends Pick<People, 'group' | 'every' | 'escalateTo'> {
  readonly state: 'open' | 'claimed' | 'resolved';
  readonly openedAt: number;
  readonly dueAt: number;
  readonly claimedAt?: number;
  /** The number of reminders so far. Absent: none. */
  readonly reminders?: number;
  /** Absent or null: the first reminder is due at `dueAt`. */
  readonly nextReminderAt?: number | null;
  /**
   * `level`: how many escalations there were. `to`: the group that hears of each reminder since the last one; null without `escalateTo`.
   */
  readonly escalation?: { readonly level: number; readonly to: string | null };
}

/** The longest interval between two reminders. */
export const reminderMaxMs = 86_400_000;

/**
 * Returns when a task's next reminder is due; undefined if there is none. The claim of a person postpones it: that person gets as much
 * time as the task had at its opening (`dueAt - openedAt`).
 */
export function reminderAt(task: RemindedTask): number | undefined {
  if (task.state === 'resolved') return undefined;
  const claimedUntil = task.state === 'claimed' ? (task.claimedAt ?? task.openedAt) + (task.dueAt - task.openedAt) : undefined;
  return Math.max(task.nextReminderAt ?? task.dueAt, claimedUntil ?? 0);
}

/** Returns the interval after a reminder: the first is `every`, or `usualMs` without it; each later one is twice as long, at most a day. */
export const intervalAfter = (reminder: number, { every }: Pick<People, 'every'>, usualMs: number): number =>
  Math.min(reminderMaxMs, (every === undefined ? usualMs : every * 1000) * 2 ** (reminder - 1));

/** The fields that a reminder changes in its task. */
export type Reminder = Required<Pick<RemindedTask, 'reminders'>> & Pick<RemindedTask, 'escalation'> & { readonly nextReminderAt: number };

/** Returns the next reminder of a task. Every second reminder escalates: to the next group of `escalateTo`, or to its last group again. */
export function reminderOf(task: RemindedTask, now: number, usualMs: number): Reminder {
  const reminders = (task.reminders ?? 0) + 1;
  const next = { reminders, nextReminderAt: now + intervalAfter(reminders, task, usualMs) };
  if (reminders % 2 === 1) return task.escalation ? { ...next, escalation: task.escalation } : next;
  const level = (task.escalation?.level ?? 0) + 1;
  const groups = task.escalateTo ?? [];
  return { ...next, escalation: { level, to: groups[Math.min(level, groups.length) - 1] ?? null } };
}
