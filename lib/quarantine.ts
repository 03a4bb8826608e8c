import type { Clock } from './clock.ts';
import { outboxMs, reminderMs } from './deadlines.ts';
import { UnreadableRecordError } from './errors.ts';
import { timeText } from './messages.ts';
import { alongOf } from './outbox.ts';
import type { Publisher } from './publisher.ts';
import type { DetailType, OutboxEntry, StateHead } from './record.ts';
import type { Store } from './store.ts';
import type { Telemetry } from './telemetry.ts';

interface Ports {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/**
 * Puts one order before a person because it can't be worked on: its record is unreadable, or would become nonsense.
 * Touches only what lies outside the instance, which stays as it is for whoever looks into it; nobody else is stopped.
 */
export async function quarantine(orderId: string, type: 'RecordUnreadable' | 'InvariantViolated', reason: string, ports: Ports): Promise<void> {
  const { store, clock, telemetry } = ports;
  telemetry.log('error', 'order quarantined', { orderId, type, reason });
  const head = await readableHead(orderId, store);
  if (!head) return announceOnly(orderId, type, reason, ports);
  if (head.processState === 'Error' && head.fault?.type === type) return flush(head, ports);

  const now = clock.now();
  const errorGen = head.errorGen + 1;
  const detail = { class: 'basic-failure', type, before: head.processState, after: 'Error', failureCount: head.failureCount, message: reason };
  const entry = (detailType: DetailType, id: string): OutboxEntry => ({ id, kind: 'announcement', detailType, detail: { id, orderId, at: timeText(now), ...detail } });
  const quarantined: StateHead = {
    ...head,
    rev: head.rev + 1,
    processState: 'Error',
    errorGen,
    fault: { type, class: 'basic-failure', message: reason, permanent: true },
    notes: [...head.notes, { at: now, type: 'RecordUnreadable', reason }],
    outbox: [...head.outbox, entry('Service Exception', `${orderId}#${errorGen}/service`), entry('Order In Error', `${orderId}#${errorGen}`)],
    worklist: 'due',
    worklistAt: now + outboxMs,
    nextDueAt: now + outboxMs,
    nextDueFor: { kind: 'outbox' },
    updatedAt: now,
  };
  const write = await store.patch(quarantined, head);
  // Whoever won has changed the order; if it is still unreadable, the next message says so again.
  if (write.outcome === 'written') await flush(quarantined, ports);
}

async function flush(head: StateHead, { store, publisher, clock }: Ports): Promise<void> {
  if (head.outbox.length === 0) return;
  const { announcements } = alongOf(head.outbox);
  const { failed } = await publisher.publish(announcements);
  if (failed.length > 0) return;

  const remindAt = clock.now() + reminderMs;
  const outbox = head.outbox.filter(({ kind }) => kind === 'status');
  if (outbox.length > 0) return;
  await store.patch({ ...head, rev: head.rev + 1, outbox, worklist: 'error', worklistAt: remindAt, nextDueAt: remindAt, nextDueFor: { kind: 'reminder' } }, head);
}

/** Not even the attributes can be read: no write is safe, but a person is told, once. */
async function announceOnly(orderId: string, type: string, reason: string, { publisher, clock }: Ports): Promise<void> {
  const id = `${orderId}/unreadable`;
  await publisher.publish([{ id, detailType: 'Service Exception', detail: { id, orderId, at: timeText(clock.now()), class: 'basic-failure', type, before: 'unknown', after: 'unknown', failureCount: 0, message: reason } }]);
}

async function readableHead(orderId: string, store: Store): Promise<StateHead | undefined> {
  try {
    return await store.head(orderId);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
