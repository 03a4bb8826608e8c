import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Documents } from '#ports/documents';
import type { Store } from '#ports/store';
import type { TaskRecord } from '#ports/tasks';
import { readableHead } from '#roles/scheduler/load';
import { exceptionPlaceOf, taskPlaceOf } from './ids.ts';
import { exceptionIn, exceptionKey, isEarlyClosing, taskIn, taskKey } from './records.ts';
import { type CauseEntry, isCauseEntry, resolvedBy } from './store.ts';

type Ports = Pick<Documents, 'document'> & Pick<Store, 'head'>;
type Opened = Extract<CauseEntry, { kind: 'opened' }>;
type Closed = Extract<CauseEntry, { kind: 'closed' }>;

/**
 * Returns an exception. Until its record is stored, the outbox of its order has it, so that an id that `GET /orders/{id}` shows can be
 * read at once.
 */
export async function exceptionOf(id: string, store: Ports): Promise<ExceptionRecord | undefined> {
  const place = exceptionPlaceOf(id);
  if (!place) return undefined;
  const { collection, id: key } = exceptionKey(place.orderId, place.seq);
  const document = await store.document(collection, key);
  return document && !isEarlyClosing(document) ? exceptionIn(document) : (await unsent(place, store)).opened?.exception;
}

/** Returns a task, as `exceptionOf` does an exception. A task whose closing is still in the outbox is resolved. */
export async function taskOf(id: string, store: Ports): Promise<TaskRecord | undefined> {
  const place = taskPlaceOf(id);
  if (!place) return undefined;
  const stored = await storedTask(place, store);
  if (stored?.resolution) return stored;
  const { opened, closed } = await unsent(place, store);
  const task = stored ?? (opened?.task && { ...opened.task, rev: 1 });
  return task && closed ? { ...task, ...resolvedBy(closed) } : task;
}

/** Returns a task as it is stored, without what is still in the outbox of its order. */
export async function storedTask(
  { orderId, seq }: { readonly orderId: string; readonly seq: number },
  store: Pick<Documents, 'document'>,
): Promise<TaskRecord | undefined> {
  const { collection, id } = taskKey(orderId, seq);
  const document = await store.document(collection, id);
  return document && !isEarlyClosing(document) ? taskIn(document) : undefined;
}

interface Unsent {
  readonly opened?: Opened | undefined;
  readonly closed?: Closed | undefined;
}

/** Returns what the outbox of an order says about a cause. */
export async function unsent(
  { orderId, seq }: { readonly orderId: string; readonly seq: number },
  store: Pick<Store, 'head'>,
): Promise<Unsent> {
  const entries = (await readableHead(orderId, store))?.outbox.filter(isCauseEntry) ?? [];
  return {
    opened: entries.find((entry) => entry.kind === 'opened' && (entry.task ?? entry.exception)?.seq === seq) as Opened | undefined,
    closed: entries.find((entry) => entry.kind === 'closed' && entry.seq === seq) as Closed | undefined,
  };
}
