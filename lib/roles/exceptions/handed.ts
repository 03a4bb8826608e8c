import type { CauseContent } from '#ports/cause-entries';
import type { RecordWrite } from '#ports/tallies';
import type { TaskRecord } from '#ports/tasks';
import { newTaskEntry } from '#roles/notifier/agenda';
import { isEarlyClosing, taskDocument, taskIn, taskKey } from './records.ts';
import type { Read } from './store.ts';

type Handed = Extract<CauseContent, { kind: 'handed' }>;

/** Returns the writes that hand a task over: the new group is notified as if the task were new. A person who has claimed it keeps it. */
export async function handingOf(entry: Handed, read: Read): Promise<readonly RecordWrite[]> {
  const key = taskKey(entry.orderId, entry.seq);
  const current = await read(key);
  if (!current || isEarlyClosing(current) || current.content['submittedAt'] !== entry.submittedAt) return [];
  const task = taskIn(current);
  if (task.state !== 'open' || (task.handed?.exception ?? 0) >= entry.exception) return [];
  const news = newTaskEntry({ openedAt: entry.at }, key);
  const handed = { document: taskDocument({ ...handedTask(task, entry), rev: current.rev + 1 }), loadedRev: current.rev };
  return (await read(news)) ? [handed] : [{ document: news, loadedRev: 0 }, handed];
}

/** Returns the task as the new group gets it. Its reminders begin again. `dueSeconds` defaults to the time that the former group had. */
function handedTask({ escalation: _, ...task }: TaskRecord, { at, exception, group, text, dueSeconds }: Handed): TaskRecord {
  const dueAt = at + (dueSeconds === undefined ? task.dueAt - (task.handed?.at ?? task.openedAt) : dueSeconds * 1000);
  return {
    ...task,
    ...(group === undefined ? {} : { group }),
    ...(text === undefined ? {} : { text }),
    dueAt,
    reminders: 0,
    nextReminderAt: dueAt,
    handed: { at, exception },
  };
}
