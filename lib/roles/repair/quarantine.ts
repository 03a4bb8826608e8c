import type { PeopleFor } from '#core/definition/people';
import type { Clock } from '#ports/clock';
import type { Publisher } from '#ports/event-bus';
import { inGroup, type Queues } from '#ports/queues';
import { announcedAs, type ProcessState, type StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { alertEntryOf, alertOf } from '#ports/util/alert';
import { opened } from '#roles/exceptions/causes';
import { outboxPauseMs, reminderMs } from '#roles/scheduler/deadlines';
import { readableHead } from '#roles/scheduler/load';
import { sendEntries } from '#roles/scheduler/outbox';

interface Ports {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly peopleFor?: PeopleFor;
}

const types = ['RecordUnreadable', 'InvariantViolated', 'StateTooLarge'] as const;
/** The faults of quarantined orders. */
export const quarantineTypes: ReadonlySet<string> = new Set(types);

/**
 * Moves one order to Error because it cannot be processed: its record is unreadable, or would become inconsistent. The instance stays as it
 * is, for inspection; other orders continue. Resolves to the order's state; to undefined when the state cannot be read, and to `lost` when
 * another write came first.
 */
export async function quarantine(
  orderId: string,
  type: (typeof types)[number],
  reason: string,
  ports: Ports,
): Promise<ProcessState | 'lost' | undefined> {
  const { store, clock, telemetry } = ports;
  telemetry.log('error', 'quarantined order', { orderId, type, reason });
  const head = await readableHead(orderId, store);
  if (!head) {
    await announceOnly({ orderId }, type, reason, 'unknown', ports);
    return undefined;
  }
  if (head.processState === 'Processed') {
    // A finished order does not change; only its outbox is sent.
    await announceOnly(head, type, reason, head.processState, ports);
    await flush(head, ports);
    return head.processState;
  }
  if (head.processState === 'Error' && head.fault?.type === type) {
    await flush(head, ports);
    return head.processState;
  }

  const now = clock.now();
  const errorGen = head.errorGen + 1;
  const { processState: before, failureCount } = head;
  const alert = { orderId, at: now, type, before, after: 'Error', failureCount, message: reason };
  const fault = { type, class: 'basic-failure' as const, message: reason, permanent: true };
  const states = { before: { processState: before, status: null }, after: { processState: 'Error' as const, status: null } };
  const people = ports.peopleFor?.(head.workflow);
  const cause = opened(head, { name: `error/${errorGen}`, fault, ...states, attempt: failureCount, people }, now);
  const quarantined: StateHead = {
    ...head,
    ...cause?.change,
    rev: head.rev + 1,
    processState: 'Error',
    errorGen,
    fault,
    notes: [...head.notes, { at: now, type: 'RecordUnreadable', reason, ...(head.processState === 'Error' ? { before: 'Error' } : {}) }],
    outbox: [
      ...head.outbox,
      alertEntryOf('Service Exception', { ...alert, id: `${announcedAs(head)}#${errorGen}/service` }),
      alertEntryOf('Order In Error', { ...alert, id: `${announcedAs(head)}#${errorGen}` }),
      ...(cause ? [cause.entry] : []),
    ],
    updatedAt: now,
  };
  const write = await store.patch({ ...quarantined, ...placeOf(quarantined, now) }, head);
  if (write.outcome !== 'written') return 'lost';
  await flush(quarantined, ports);
  return quarantined.processState;
}

/** Sends the outbox. Unsent entries get a new deadline, so that the supervisor does not find this order in every pass. */
async function flush(head: StateHead, ports: Ports): Promise<void> {
  if (head.outbox.length === 0) return;
  const acknowledged = await sendEntries(head.outbox, { ...ports, queues: inGroup(ports.queues, head.client) });
  const outbox = head.outbox.filter(({ id }) => !acknowledged.has(id));
  await ports.store.patch({ ...head, rev: head.rev + 1, outbox, ...placeOf({ ...head, outbox }, ports.clock.now()) }, head);
}

type Place = Pick<StateHead, 'worklist' | 'worklistAt' | 'nextDueAt' | 'nextDueFor'>;

function placeOf({ outbox, processState }: StateHead, now: number): Place {
  const at = now + (outbox.length > 0 ? outboxPauseMs(outbox, now) : reminderMs);
  if (outbox.length > 0) return { worklist: 'due', worklistAt: at, nextDueAt: at, nextDueFor: { kind: 'outbox' } };
  if (processState === 'Processed') return { worklist: null, worklistAt: null, nextDueAt: null, nextDueFor: null };
  return { worklist: 'error', worklistAt: at, nextDueAt: at, nextDueFor: { kind: 'reminder' } };
}

/** Alerts a person without a write, always under the same id: the attributes cannot be read either, or the order is finished. */
async function announceOnly(
  { orderId, submittedAt }: Pick<StateHead, 'orderId'> & Partial<Pick<StateHead, 'submittedAt'>>,
  type: string,
  reason: string,
  state: ProcessState | 'unknown',
  { publisher, clock }: Ports,
): Promise<void> {
  const id = `${submittedAt === undefined ? orderId : announcedAs({ orderId, submittedAt })}/unreadable`;
  const alert = { id, orderId, at: clock.now(), type, before: state, after: state, message: reason };
  await publisher.publish([alertOf('Service Exception', alert)]);
}
