import { timeText } from '#ports/messages';
import { announcedAs, type Note, type OutboxEntry, type StateHead } from '#ports/records';
import { outboxMs } from '#roles/scheduler/deadlines';

/** Moves an order without replies to Error. The alert is part of the same write. */
export function escalate(head: StateHead, failureCount: number, now: number, note: Note): StateHead {
  const errorGen = head.errorGen + 1;
  const id = `${announcedAs(head)}#${errorGen}`;
  const source = head.nextDueFor?.path;
  const message = `No reply arrived in time. Expired deadlines: ${failureCount}.`;
  const fault = { type: 'DeadlineExceeded', class: 'basic-failure' as const, message, permanent: false, ...(source ? { source } : {}) };
  const detail = {
    id,
    orderId: head.orderId,
    at: timeText(now),
    class: fault.class,
    type: fault.type,
    ...(source ? { source } : {}),
    before: head.processState,
    after: 'Error',
    failureCount,
    message,
  };
  const alert: OutboxEntry = { id, kind: 'announcement', detailType: 'Order In Error', detail };
  return {
    ...head,
    processState: 'Error',
    failureCount,
    errorGen,
    fault,
    notes: [...head.notes, note],
    outbox: [...head.outbox, alert],
    nextDueAt: now + outboxMs,
    nextDueFor: { kind: 'outbox', ...(source ? { path: source } : {}) },
    worklist: 'due',
    worklistAt: now,
  };
}
