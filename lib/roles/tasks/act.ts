import type { JsonObject } from '#core/data/json';
import { type TaskRecord, taskLimits } from '#ports/tasks';

/** An action of a person on a task. */
export type Act =
  | { readonly action: 'claim' }
  | { readonly action: 'release' }
  /** With `assignee`: claims the task for that person. With `group` alone: the task is open for that group. */
  | { readonly action: 'assign'; readonly assignee?: string | undefined; readonly group?: string | undefined }
  | { readonly action: 'comment'; readonly text: string }
  /** Only for a task without an order. A write of its order resolves every other task. */
  | { readonly action: 'resolve'; readonly reason: string; readonly instruction: JsonObject };

interface Actor {
  readonly by: string;
  readonly isAdmin: boolean;
  readonly now: number;
}

/** Returns the task after an act, the very same task if nothing changes, or why the act is refused. */
export function actOnTask(task: TaskRecord, act: Act, actor: Actor): TaskRecord | string {
  if (act.action === 'comment') return commented(task, act.text, actor);
  const { by, isAdmin, now } = actor;
  if (task.resolution) return `${task.resolution.by} has resolved the task, so it needs nobody any more.`;
  const isOthers = task.assignee !== undefined && task.assignee !== by;
  // Only `assign` takes a task from a person, so that nobody loses work by a claim.
  if (isOthers && (act.action === 'claim' || !isAdmin)) return heldBy(task);
  switch (act.action) {
    case 'claim':
      return task.assignee === by ? task : claimedBy(task, by, now);
    case 'release':
      return task.assignee === undefined ? task : opened(task, now);
    case 'assign':
      return assigned(task, act, now);
    case 'resolve':
      return { ...task, state: 'resolved', resolution: { by, at: now, reason: act.reason, instruction: act.instruction } };
  }
}

/** Says who has claimed a task, and what to do. */
export const heldBy = ({ assignee }: TaskRecord): string =>
  `${assignee} has claimed the task. Ask ${assignee} to release it, or an admin to assign it to you.`;

function assigned(task: TaskRecord, { assignee, group = task.group }: Extract<Act, { action: 'assign' }>, now: number): TaskRecord {
  if (task.assignee === assignee && task.group === group) return task;
  const ofGroup = group === undefined ? task : { ...task, group };
  return assignee === undefined ? opened(ofGroup, now) : claimedBy(ofGroup, assignee, now);
}

/** Claims a task. The person is reminded only after as much time as the new task had until it was due. */
const claimedBy = (task: TaskRecord, assignee: string, now: number): TaskRecord => ({
  ...task,
  state: 'claimed',
  assignee,
  claimedAt: now,
  nextReminderAt: now + task.dueAt - task.openedAt,
});

/** The reminders of a task that is open again begin again. */
function opened({ assignee: _, claimedAt: __, ...task }: TaskRecord, now: number): TaskRecord {
  return { ...task, state: 'open', reminders: 0, nextReminderAt: Math.max(task.dueAt, now) };
}

function commented(task: TaskRecord, text: string, { by, now }: Actor): TaskRecord | string {
  const { comments = [] } = task;
  if (comments.length >= taskLimits.commentsMax)
    return `The task has ${taskLimits.commentsMax} comments, which is the limit. Write your comment into the reason of your instruction.`;
  return { ...task, comments: [...comments, { by, at: now, text }] };
}
