import { hash } from 'node:crypto';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import type { Outgoing, Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayMs } from '#ports/util/days';
import type { Instance } from './instance.ts';
import { endLockByTime, isLocked, lockHolderOf } from './lease.ts';

interface Ports {
  readonly store: Documents & Pick<Store, 'head' | 'patch'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The largest number of kept messages that are read, sent and removed together. */
const atOnce = 25;
/** The longest time for which SQS keeps a message. A document that a crash leaves behind does no harm: its message is redelivered. */
const keptMs = 14 * dayMs;

/** Keeps messages for an order that a person has locked, until the lock ends (F-179). A redelivered message is kept again. */
export async function keepWhileLocked(ports: Ports, orderId: string, messages: readonly Outgoing[]): Promise<void> {
  const { store, clock } = ports;
  await allSettledOrThrow(messages.map((message) => keep(store, orderId, message, clock.now())));
  // The lock may have ended before the messages were kept.
  for (;;) {
    const head = await store.head(orderId);
    if (head && isLocked(head, clock.now())) return;
    if (!head || lockHolderOf(head) === undefined) return drain(ports, orderId);
    await endLockByTime(store, head);
  }
}

/** Stores a message under an id of its own: another host may send and remove an equal message at the same moment. */
async function keep(store: Documents, orderId: string, { delayMs: _, ...message }: Outgoing, now: number): Promise<void> {
  for (let keptAt = now; ; keptAt++) {
    const id = hash('sha256', JSON.stringify([message.queue, message.body, keptAt]), 'base64url');
    const document = { collection: collections.inbox(orderId), id, rev: 1, content: { ...message }, expiresAt: now + keptMs };
    if ((await store.putDocument(document, 0)).outcome === 'written') return;
  }
}

/**
 * Sends the kept messages before the write that lets deadlines run again. If the process dies in between, they are sent again. The
 * instances tell whether the lock has ended; the lease does not, because a host may have taken it since.
 */
export async function sendKept(ports: Ports, orderId: string, before: Instance, after: Instance): Promise<void> {
  if (before.state.stillSince !== undefined && after.state.stillSince === undefined) await drain(ports, orderId);
}

/**
 * Sends all kept messages to their queues, and forgets them. If the function rejects or the process crashes, some are sent twice. Stops at
 * a new lock: the scheduler would only keep the messages again. They are sent when that lock ends.
 */
async function drain({ store, queues }: Ports, orderId: string): Promise<void> {
  for (;;) {
    const kept = await store.documents(collections.inbox(orderId), undefined, atOnce);
    if (kept.length === 0) return;
    const head = await store.head(orderId);
    if (head && lockHolderOf(head) !== undefined) return;
    await queues.send(kept.map(({ content }) => content as unknown as Outgoing));
    await allSettledOrThrow(kept.map(({ collection, id, rev }) => store.removeDocument(collection, id, rev)));
  }
}
