import type { OutboxEntry, StateRecord } from '#ports/records';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { compareAndSet } from '#ports/util/compare-and-set';
import { decodeInstance, journal } from './instance.ts';
import { isUndeliverable, sendEntries, undeliverableAlerts, undeliverableFacts } from './outbox.ts';
import { type Paged, pagedOut } from './paging.ts';
import { outstandingRequests } from './resend.ts';
import { openEntries, portsFor, type Sending, type SendingPorts } from './sending.ts';
import { sentWithPlan } from './sent-along.ts';
import { withDeadline } from './transition.ts';
import type { Loaded, PlannedWrite } from './types.ts';

/** The messages of a write besides its outbox. */
type Requests = Pick<PlannedWrite, 'requests' | 'cancels' | 'wakeUps'>;

/**
 * Stores announcements and status messages in the record's outbox, and sends them after the write, before the requests. The next
 * write sends what could not be sent. That write also removes an entry if the reply to a later request proves that the entry was sent.
 */
export function outboxThenSend(ports: SendingPorts): Sending {
  const { store, queues, clock } = ports;

  async function pageOut({ record: { orderId, rev } }: Loaded, { page, undoPage }: Omit<Paged, 'instance'>): Promise<void> {
    await allSettledOrThrow([
      ...(page ? [store.putPage(orderId, rev, page)] : []),
      ...(undoPage ? [store.putUndoPage(orderId, rev, undoPage)] : []),
    ]);
  }

  /**
   * Sends what follows from a stored write: the outbox first, then the requests. Entries that `prepare` could not send (`tried`)
   * wait for the next write. Only status messages are sent again now, because they must keep their sequence.
   */
  async function sendAfter(saved: Loaded, planned: Requests, tried: ReadonlySet<string> = new Set()): Promise<void> {
    let { record } = saved;
    const untried = record.outbox.filter(({ id, kind }) => kind === 'status' || !tried.has(id));
    const acknowledged = await sendEntries(untried, portsFor(ports, saved));
    const ids = new Set(record.outbox.map(({ id }) => id));
    const isOpen = ({ id }: OutboxEntry): boolean => !acknowledged.has(id);
    // The reply to a request proves that the outbox was sent before it. Mark the entries that were not sent.
    if (record.outbox.some((entry) => isOpen(entry) && !entry.unproven))
      record = await changeOutbox(
        saved,
        record,
        (entry) => (isOpen(entry) && ids.has(entry.id) ? [{ ...entry, unproven: true as const }] : [entry]),
        ports,
      );
    await queues.send(sentWithPlan(saved.order, planned, [], clock.now()).messages);
    // Without requests, no reply will prove the outbox: remove the acknowledged entries now.
    if (planned.requests.length === 0 && acknowledged.size > 0)
      await changeOutbox(saved, record, (entry) => (isOpen(entry) ? [entry] : []), ports);
  }

  return {
    sendAgain: (loaded) => sendAfter(loaded, { requests: outstandingRequests(loaded), cancels: [], wakeUps: [] }),
    async prepare(loaded, planned, now, wakeUp = []) {
      const open = openEntries(loaded, planned);
      const acknowledged = await sendEntries(open, portsFor(ports, loaded));
      const unsent = open.filter(({ id }) => !acknowledged.has(id));
      const kept = unsent.filter((entry) => !isUndeliverable(entry, now));
      const givenUp = unsent.filter((entry) => isUndeliverable(entry, now));
      const added = planned.outbox.map((entry) => ({ ...entry, provenBy: planned.requests.map(({ requestId }) => requestId) }));
      const { instance, ...pages } = pagedOut(loaded, planned.instance);
      await pageOut(loaded, pages);
      return {
        instance: journal(instance, undeliverableFacts(givenUp), now),
        outbox: [...kept, ...added, ...undeliverableAlerts(loaded.record, givenUp, now)],
        sentWithWrite: { messages: [], announcements: [] },
        async send(saved) {
          await sendAfter(saved, planned, new Set(kept.map(({ id: tried }) => tried)));
          if (wakeUp.length > 0) await queues.send(wakeUp);
        },
      };
    },
  };
}

/**
 * Changes the stored outbox; resolves to the record as it is then. After a lost race it changes the winning record: otherwise the next
 * reply would count an unsent entry as sent, and the entry would be lost.
 */
async function changeOutbox(
  saved: Loaded,
  record: StateRecord,
  change: (entry: OutboxEntry) => readonly OutboxEntry[],
  { store, clock }: Pick<SendingPorts, 'store' | 'clock'>,
): Promise<StateRecord> {
  let current = record;
  await compareAndSet(async () => {
    const outbox = current.outbox.flatMap(change);
    const instance = { ...saved.instance, state: decodeInstance(current).state };
    const next = withDeadline(saved.program, instance, { ...current, rev: current.rev + 1, outbox }, clock.now());
    const write = await store.patch(next, current);
    if (write.outcome === 'refused') {
      const winner = await store.load(record.orderId);
      if (!winner) return 'over';
      current = winner.state;
      return 'lost';
    }
    current = { ...next, blob: current.blob };
    return 'over';
  });
  return current;
}
