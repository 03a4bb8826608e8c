import type { JsonObject } from '#core/data/json';
import type { ExceptionRecord } from '#core/exceptions/exception';
import { collections, type Document } from '#ports/documents';
import { type List, type ListEntry, lists, sortKey } from '#ports/lists';
import { hashOf } from '#ports/records';
import type { TallyAdd } from '#ports/tallies';
import type { TaskRecord } from '#ports/tasks';
import { dayOf } from '#ports/util/days';

const hourMs = 3_600_000;
/** Groups show the last 30 days, which touch 31 calendar days. */
export const groupDays = 31;

/** Parts of the tallies of all groups, so that thousands of exceptions a second of one kind meet no limit of a partition. */
export const groupShards = 8;

const numbered = (kind: string, seq: number): string => `${kind}#${String(seq).padStart(9, '0')}`;

/** The document of an exception lies in the partition of its order. */
export const exceptionKey = (orderId: string, seq: number) => ({ collection: collections.order(orderId), id: numbered('EXCEPTION', seq) });
export const taskKey = (orderId: string, seq: number) => ({ collection: collections.order(orderId), id: numbered('TASK', seq) });

/** Returns the number of the cause whose exception or task a document holds; undefined for any other document. */
export const seqIn = ({ id }: Pick<Document, 'id'>): number | undefined => {
  const [, seq] = /^(?:EXCEPTION|TASK)#(\d{9})$/.exec(id) ?? [];
  return seq === undefined ? undefined : Number(seq);
};

/** The state of an exception, as lists and people name it. */
export const stateOfException = ({ handling }: Pick<ExceptionRecord, 'handling'>): 'open' | 'handled' => (handling ? 'handled' : 'open');

export function exceptionDocument(exception: ExceptionRecord, rev: number): Document {
  const { orderId, seq, fingerprint, at, id } = exception;
  const sort = sortKey(at, id);
  return {
    ...exceptionKey(orderId, seq),
    rev,
    content: exception as unknown as JsonObject,
    listA: { list: lists.exceptionsAlike(fingerprint, stateOfException(exception)), sort },
    listB: { list: lists.exceptions(dayOf(at)), sort },
  };
}

/** The document of a task, on the lists of its state, of its person and of its group. The agenda of the notifier has its next reminder. */
export function taskDocument(task: TaskRecord): Document {
  const { orderId, seq, rev, group, state } = task;
  const sort = sortOfTask(task);
  const listB = personListOf(task);
  return {
    ...taskKey(orderId, seq),
    rev,
    content: task as unknown as JsonObject,
    listA: { list: stateListOf(task), sort },
    ...(listB ? { listB } : {}),
    ...(group === undefined ? {} : { listC: { list: lists.tasksOfGroup(group, state), sort } }),
  };
}

/** Open and claimed tasks sort by the time at which they are due, resolved tasks by the time of their resolution. */
export const sortOfTask = ({ id, dueAt, resolution }: TaskRecord): string => sortKey(resolution?.at ?? dueAt, id);

function stateListOf({ resolution, state }: TaskRecord): List<'A'> {
  if (resolution) return lists.doneTasks(dayOf(resolution.at));
  return state === 'claimed' ? lists.claimedTasks : lists.openTasks;
}

function personListOf(task: TaskRecord): ListEntry<'B'> | undefined {
  const { assignee, resolution } = task;
  if (assignee === undefined) return undefined;
  return { list: resolution ? lists.doneTasksOfPerson(assignee) : lists.tasksOfPerson(assignee), sort: sortOfTask(task) };
}

/** The document of an exception or a task whose closing came before its opening. It is on no list until the opening takes it over. */
export const earlyClosing = (
  place: Pick<Document, 'collection' | 'id'>,
  rev: number,
  submittedAt: number,
  closing: JsonObject,
): Document => ({
  ...place,
  rev,
  content: { submittedAt, closing },
});
export const isEarlyClosing = ({ content }: Document): boolean => content['closing'] !== undefined;
/** Returns the fields that the opening takes over from an early closing. */
export const closedBeforeOpened = ({ content }: Document): JsonObject => (content['closing'] ?? {}) as JsonObject;

export const exceptionIn = ({ content }: Document): ExceptionRecord => content as unknown as ExceptionRecord;
export const taskIn = ({ content, rev }: Document): TaskRecord => ({ ...(content as unknown as TaskRecord), rev });

/** Returns the addition of an exception to the tally of its group: the exception itself, its handling, or both. */
export function groupAdd(exception: ExceptionRecord, what: 'total' | 'handled' | 'handled at once'): TallyAdd {
  const { orderId, fingerprint, at, type, class: faultClass, workflow, step, message } = exception;
  return {
    collection: collections.exceptionGroups(hashOf(orderId) % groupShards),
    id: `${dayOf(at)}#${fingerprint}`,
    sums: { ...(what === 'handled' ? {} : { total: 1, [hourOf(at)]: 1 }), ...(what === 'total' ? {} : { handled: 1 }) },
    about: { type, class: faultClass, workflow: workflow.name, step, sampleOrderId: orderId, sampleMessage: message },
    ...(what === 'handled' ? {} : { at }),
    expiresAt: at + (groupDays + 1) * 24 * hourMs,
  };
}

/** Returns the name of an hour's sum: `h07`. */
export const hourOf = (at: number): string => `h${String(new Date(at).getUTCHours()).padStart(2, '0')}`;
