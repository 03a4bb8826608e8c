import { announcedAs, type Note, type StateHead } from '#ports/records';
import type { People } from '#ports/tasks';
import { alertEntryOf } from '#ports/util/alert';
import { opened } from '#roles/exceptions/causes';
import { heardOf, outboxMs } from '#roles/scheduler/deadlines';

/** Moves an order to Error because its replies did not come in time. The alert is part of the same write. */
export function escalate(head: StateHead, failureCount: number, now: number, note: Note, people?: People): StateHead {
  const errorGen = head.errorGen + 1;
  const id = `${announcedAs(head)}#${errorGen}`;
  const source = head.nextDueFor?.path;
  const message = `No reply arrived in time. Expired deadlines: ${failureCount}. ${heardOf(head.nextDueFor)}`;
  const fault = { type: 'DeadlineExceeded', class: 'basic-failure' as const, message, permanent: false, ...(source ? { source } : {}) };
  const { orderId, processState: before } = head;
  // The supervisor does not read the instance, so it takes a late step to be at work.
  const status = source === undefined ? null : ('Executing' as const);
  const states = { before: { processState: before, status }, after: { processState: 'Error' as const, status } };
  const cause = opened(head, { name: `error/${errorGen}`, fault, ...states, attempt: failureCount, people }, now);
  const alert = alertEntryOf('Order In Error', { ...fault, id, orderId, at: now, before, after: 'Error', failureCount });
  return {
    ...head,
    ...cause?.change,
    processState: 'Error',
    failureCount,
    errorGen,
    fault,
    notes: [...head.notes, note],
    outbox: [...head.outbox, alert, ...(cause ? [cause.entry] : [])],
    nextDueAt: now + outboxMs,
    nextDueFor: { kind: 'outbox', ...(source ? { path: source } : {}) },
    worklist: 'due',
    worklistAt: now,
  };
}
