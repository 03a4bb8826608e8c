import type { ExceptionRecord } from '#core/exceptions/exception';
import { collections, type Document, type Documents } from '#ports/documents';
import { lookedMax } from '#ports/list-filters';
import { type List, lists, timeStart } from '#ports/lists';
import type { TaskKind, TaskRecord, TaskState } from '#ports/tasks';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayMs, dayOf } from '#ports/util/days';
import { emptyPage, type FilledPage, fillPage } from '#ports/util/merged-lists';
import { storedTask } from '#roles/exceptions/read';
import { exceptionIn, groupDays, isEarlyClosing, sortOfTask, taskIn } from '#roles/exceptions/records';

export interface TaskFilter {
  /** Absent: open and claimed tasks. */
  readonly state?: TaskState;
  /** The person who has claimed the task; null: nobody has. */
  readonly assignee?: string | null;
  /** One of these groups. */
  readonly groups?: readonly string[];
  readonly workflow?: string;
  readonly kind?: TaskKind;
  readonly fingerprint?: string;
  readonly orderId?: string;
  readonly overdue?: true;
}

export interface TaskPage {
  readonly items: readonly TaskRecord[];
  /** The position after which the next page begins; absent at the end. */
  readonly next?: string;
}

interface Extent {
  readonly after: string | undefined;
  readonly limit: number;
  readonly now: number;
}

type Ports = Pick<Documents, 'document' | 'listed'>;

/**
 * Lists tasks by the time at which they are due. Resolved ones come newest first. An order, a fingerprint, a person, a group and a state
 * each have an index; the other filters are checked on at most `lookedMax` tasks for a page.
 */
export async function listTasks(store: Ports, filter: TaskFilter, extent: Extent): Promise<TaskPage> {
  if (isContradiction(filter)) return { items: [] };
  const fits = (task: TaskRecord): boolean => matches(task, filter, extent.now);
  const { orderId, fingerprint } = filter;
  if (orderId !== undefined) return listOfOrder(store, { ...filter, orderId }, fits, extent);
  if (fingerprint !== undefined) return listAlike(store, { ...filter, fingerprint }, fits, extent);
  const page = emptyPage<TaskRecord>(extent.limit, extent.after);
  const pick = (document: Document): TaskRecord | undefined => (fits(taskIn(document)) ? taskIn(document) : undefined);
  const found = listsFor(filter);
  if (found === 'days') return walk(store, page, pick, extent);
  const read = {
    lists: found,
    order: orderOf(filter),
    ...(filter.overdue ? { to: timeStart(extent.now) } : {}),
    pick,
  };
  return paged(page, await fillPage(store, read, page));
}

const orderOf = ({ state }: TaskFilter): 'ascending' | 'descending' => (state === 'resolved' ? 'descending' : 'ascending');

const paged = ({ items, last }: FilledPage<TaskRecord>, end: 'full' | 'end'): TaskPage => ({
  items,
  ...(end === 'full' && last !== undefined ? { next: last } : {}),
});

/** Whether no task can match: an open task has no assignee, a claimed one has an assignee, and a resolved one is not overdue. */
const isContradiction = ({ state, assignee, overdue }: TaskFilter): boolean =>
  (assignee === null && state === 'claimed') ||
  (typeof assignee === 'string' && state === 'open') ||
  (overdue === true && state === 'resolved');

function matches(task: TaskRecord, filter: TaskFilter, now: number): boolean {
  const { state, assignee, groups, workflow, kind, fingerprint, orderId, overdue } = filter;
  return (
    (state === undefined ? task.state !== 'resolved' : task.state === state) &&
    (assignee === undefined || (task.assignee ?? null) === assignee) &&
    (groups === undefined || (task.group !== undefined && groups.includes(task.group))) &&
    (workflow === undefined || task.workflow.name === workflow) &&
    (kind === undefined || task.kind === kind) &&
    (fingerprint === undefined || task.fingerprint === fingerprint) &&
    (orderId === undefined || task.orderId === orderId) &&
    (!overdue || isOverdue(task, now))
  );
}

export const isOverdue = ({ dueAt, state }: TaskRecord, now: number): boolean => state !== 'resolved' && dueAt < now;

/** Returns the lists that hold all tasks of a filter; `days`: resolved tasks of everybody lie in a list for each day. */
function listsFor({ state, assignee, groups }: TaskFilter): readonly List[] | 'days' {
  if (typeof assignee === 'string') return [state === 'resolved' ? lists.doneTasksOfPerson(assignee) : lists.tasksOfPerson(assignee)];
  const states = state !== undefined ? [state] : assignee === null ? (['open'] as const) : (['open', 'claimed'] as const);
  if (groups) return groups.flatMap((group) => states.map((each) => lists.tasksOfGroup(group, each)));
  if (state === 'resolved') return 'days';
  return states.map((each) => (each === 'open' ? lists.openTasks : lists.claimedTasks));
}

/** Walks the days back from the newest resolution. */
async function walk(
  store: Ports,
  page: FilledPage<TaskRecord>,
  pick: (document: Document) => TaskRecord | undefined,
  { after, now }: Extent,
): Promise<TaskPage> {
  const oldest = dayOf(now - groupDays * dayMs);
  // The clock of another process may be ahead by a few seconds, so that its tasks are on the next day.
  const start = after === undefined ? now + dayMs : Number(after.slice(0, 13));
  for (let at = start; dayOf(at) >= oldest; at -= dayMs) {
    const end = await fillPage(store, { lists: [lists.doneTasks(dayOf(at))], order: 'descending', pick }, page);
    if (end === 'full') return paged(page, end);
  }
  return paged(page, 'end');
}

type Fits = (task: TaskRecord) => boolean;

/**
 * Lists the tasks of one order, from the order's own partition. The pages follow the numbers of the tasks; within one page, tasks are
 * sorted by time.
 */
async function listOfOrder(
  store: Ports,
  filter: TaskFilter & { readonly orderId: string },
  fits: Fits,
  { after, limit }: Extent,
): Promise<TaskPage> {
  const list = { index: 'collection', name: collections.order(filter.orderId) } as const;
  const order = orderOf(filter);
  const [from, to] = ['TASK#', 'TASK#:'];
  const items: TaskRecord[] = [];
  for (let position = after, looked = 0; ; ) {
    const read = { list, order, from, to, limit, ...(position === undefined ? {} : { after: position }) } as const;
    const page = await store.listed(read);
    for (const document of page.items) {
      position = document.id;
      looked++;
      if (!isEarlyClosing(document) && fits(taskIn(document))) items.push(taskIn(document));
      if (items.length >= limit) return { items: byTime(items, order), next: position };
    }
    if (page.next === undefined) return { items: byTime(items, order) };
    if (looked >= lookedMax) return { items: byTime(items, order), next: page.next };
    position = page.next;
  }
}

/**
 * Lists the tasks of alike exceptions. The pages follow the times of the exceptions; within one page, tasks are sorted by their own time.
 */
async function listAlike(
  store: Ports,
  filter: TaskFilter & { readonly fingerprint: string },
  fits: Fits,
  { after, limit }: Extent,
): Promise<TaskPage> {
  const exceptions = lists.exceptionsAlike(filter.fingerprint, filter.state === 'resolved' ? 'handled' : 'open');
  const order = orderOf(filter);
  const items: TaskRecord[] = [];
  for (let position = after, looked = 0; ; ) {
    const page = emptyPage<ExceptionRecord>(limit - items.length, position);
    const end = await fillPage(store, { lists: [exceptions], order, pick: exceptionIn }, page);
    const tasks = await allSettledOrThrow(page.items.map((exception) => storedTask(exception, store)));
    items.push(...tasks.flatMap((task) => (task && fits(task) ? [task] : [])));
    position = page.last;
    looked += page.looked;
    if (end === 'end') return { items: byTime(items, order) };
    if (items.length >= limit || looked >= lookedMax)
      return { items: byTime(items, order), ...(position === undefined ? {} : { next: position }) };
  }
}

/** Sorts tasks by the time at which they are due, or at which they were resolved. */
const byTime = (tasks: readonly TaskRecord[], order: 'ascending' | 'descending'): readonly TaskRecord[] =>
  tasks.toSorted((one, other) => (sortOfTask(one) < sortOfTask(other) === (order === 'ascending') ? -1 : 1));
