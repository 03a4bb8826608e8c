import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Documents } from '#ports/documents';
import type { Store } from '#ports/store';
import type { TaskRecord } from '#ports/tasks';
import { readableHead } from '#roles/scheduler/load';
import { exceptionPlaceOf, taskPlaceOf } from './ids.ts';
import { exceptionIn, exceptionKey, taskIn, taskKey } from './records.ts';
import { type CauseEntry, isCauseEntry } from './store.ts';

type Ports = Pick<Documents, 'document'> & Pick<Store, 'head'>;
type Opened = Extract<CauseEntry, { kind: 'opened' }>;

/**
 * Returns an exception. Until its record is stored, the outbox of its order has it, so that an id that `GET /orders/{id}` shows can be
 * read at once.
 */
export async function exceptionOf(id: string, store: Ports): Promise<ExceptionRecord | undefined> {
  const place = exceptionPlaceOf(id);
  if (!place) return undefined;
  const { collection, id: key } = exceptionKey(place.orderId, place.seq);
  const document = await store.document(collection, key);
  return document ? exceptionIn(document) : (await unsent(place, store))?.exception;
}

/** Returns a task, as `exceptionOf` does an exception. */
export async function taskOf(id: string, store: Ports): Promise<TaskRecord | undefined> {
  const place = taskPlaceOf(id);
  if (!place) return undefined;
  const { collection, id: key } = taskKey(place.orderId, place.seq);
  const document = await store.document(collection, key);
  if (document) return taskIn(document);
  const entry = await unsent(place, store);
  return entry?.task && { ...entry.task, rev: 1 };
}

async function unsent({ orderId, seq }: { readonly orderId: string; readonly seq: number }, store: Ports): Promise<Opened | undefined> {
  const head = await readableHead(orderId, store);
  return head?.outbox.find(
    (entry): entry is Opened & { readonly id: string } =>
      isCauseEntry(entry) && entry.kind === 'opened' && (entry.task ?? entry.exception)?.seq === seq,
  );
}
