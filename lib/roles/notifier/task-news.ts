import type { SampleTask } from '#core/notifications/message';
import { type RemindedTask, reminderAt, reminderOf } from '#core/notifications/reminders';
import type { Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { TaskRecord } from '#ports/tasks';
import { isEarlyClosing, taskDocument, taskIn } from '#roles/exceptions/records';
import type { Agenda, AgendaEntry, AgendaSubject } from './agenda.ts';
import type { TaskNews } from './notices.ts';
import { type GroupPorts, hearerOf, isOpenQuestion, reportUnattended, usualGroup } from './unattended.ts';

/** An entry about a task. */
export type TaskEntry = AgendaEntry & { readonly subject: Extract<AgendaSubject, { what: 'task' }> };

export interface TaskNewsOptions extends GroupPorts {
  readonly store: Pick<Documents, 'document' | 'putDocument'>;
  readonly agenda: Agenda;
  /** The queues that receive the reports about questions that nobody takes. */
  readonly queues: Pick<Queues, 'send'>;
  readonly publisher: Publisher;
  readonly now: number;
  /** The interval between the first two reminders of a task that gives none. */
  readonly reminderMs: number;
}

/** A task may be missing, because its entry is written before the task itself. */
const missing = { lookEveryMs: 60_000, dropAfterMs: 86_400_000 } as const;

/**
 * Looks at the task of an agenda entry. Returns what its people should hear, without `news` if there is nothing to tell. `done` removes or
 * moves the entry, after the news is stored.
 */
export async function newsOf(
  entry: TaskEntry,
  options: TaskNewsOptions,
): Promise<{ readonly news?: TaskNews; readonly done: () => Promise<void> }> {
  const { store, agenda, now } = options;
  const { collection, id, isNew } = entry.subject;
  const document = await store.document(collection, id);
  if (!document || isEarlyClosing(document))
    return { done: () => (now > entry.at + missing.dropAfterMs ? agenda.remove(entry) : agenda.move(entry, now + missing.lookEveryMs)) };
  const task = taskIn(document);
  const at = reminderAt(task);
  const done = () => agenda.remove(entry);
  if (at === undefined) return { done };
  if (isNew) {
    await agenda.put(at, { what: 'task', collection, id, isNew: false });
    const news = await openedNews(task, entry, options);
    return { ...(news ? { news } : {}), done };
  }
  const isCounted = task.remindedFor === entry.at;
  if (!isCounted && at > now) return { done: () => agenda.move(entry, at) };
  const reminded = await remind(task, entry, isCounted, options);
  // Another process or a person has changed the task, or the event bus has refused the reminder: the next pass looks again.
  if (!reminded) return { done: async () => {} };
  if (reminded.reminders === 1 && isOpenQuestion(task))
    await reportUnattended(task, { id: `${task.id}/late/${entry.at}`, why: 'nobody-in-time' }, options);
  const group = await hearerOf(reminded.escalation?.to ?? reminded.group ?? usualGroup, options);
  return { news: newsFor(reminded, group, { opened: 0, reminded: 1, lastAt: now }), done };
}

/** The time for which people wait for the decision of the rules about an empty group. */
const decisionMs = 10_000;

/** Returns the news of a new task. The rules are asked first about a question to an empty group; its news then go to the admins. */
async function openedNews(task: TaskRecord, { subject }: TaskEntry, options: TaskNewsOptions): Promise<TaskNews | undefined> {
  const { agenda, now, isEmpty } = options;
  const handed = task.handed?.exception ?? 0;
  // A rule has handed the task over since the rules were asked: the news for its new people has an entry of its own.
  if (subject.asked !== undefined && subject.asked !== handed) return undefined;
  const group = task.group ?? usualGroup;
  if (subject.asked === undefined && isOpenQuestion(task) && (await isEmpty(group))) {
    await reportUnattended(task, { id: `${task.id}/empty/${handed}`, why: 'group-empty' }, options);
    await agenda.put(now + decisionMs, { ...subject, asked: handed });
    return undefined;
  }
  return newsFor(task, await hearerOf(group, options), { opened: 1, reminded: 0, lastAt: task.openedAt });
}

/**
 * Counts a reminder in its task, then announces it. After a crash between the two, the entry is still there, and the next pass announces
 * the reminder again under the same id.
 */
async function remind(
  task: TaskRecord,
  { at, subject }: TaskEntry,
  isCounted: boolean,
  { store, agenda, publisher, now, reminderMs }: TaskNewsOptions,
): Promise<TaskRecord | undefined> {
  const next: TaskRecord = isCounted ? task : { ...task, ...reminderOf(task, now, reminderMs), remindedFor: at, rev: task.rev + 1 };
  await agenda.put(next.nextReminderAt ?? now, subject);
  if (!isCounted && (await store.putDocument(taskDocument(next), task.rev)).outcome === 'refused') return undefined;
  const { failed } = await publisher.publish([announcementOf(next, at, now)]);
  return failed.length > 0 ? undefined : next;
}

/** Reminders begin again when a person releases a task, so the number alone is not unique. */
function announcementOf(task: TaskRecord, remindedFor: number, now: number) {
  const { id: taskId, orderId, dueAt, kind, group, assignee, escalation, reminders: number = 1 } = task;
  const id = `${taskId}/reminder/${number}/${remindedFor.toString(36)}`;
  const detail = {
    id,
    orderId,
    at: timeText(now),
    taskId,
    kind,
    number,
    dueAt: timeText(dueAt),
    group: group ?? null,
    assignee: assignee ?? null,
    ...(escalation ? { escalation: { ...escalation } } : {}),
  };
  return { id, detailType: 'Task Reminder' as const, detail };
}

const newsFor = (task: TaskRecord, group: string, news: TaskNews['news']): TaskNews => ({
  group,
  key: task.fingerprint ?? `${task.kind}#${task.workflow.name}`,
  news,
  sample: sampleOf(task, group),
});

function sampleOf(task: TaskRecord & RemindedTask, group: string): SampleTask {
  const { id: taskId, kind, orderId, workflow, fault, question, text, fingerprint, openedAt, dueAt, reminders = 0 } = task;
  const said = question?.text ?? text ?? fault?.message;
  return {
    taskId,
    kind,
    orderId,
    workflow: workflow.name,
    ...(fault?.source === undefined ? {} : { path: fault.source }),
    ...(fault ? { type: fault.type } : {}),
    ...(said === undefined ? {} : { text: said }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    openedAt,
    dueAt,
    reminders,
    ...(group === (task.group ?? usualGroup) ? {} : { escalatedFrom: task.group ?? usualGroup }),
  };
}
