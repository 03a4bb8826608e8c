import { hash } from 'node:crypto';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import type { Outgoing, Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayMs } from '#ports/util/days';
import type { Instance } from './instance.ts';
import { isLocked } from './lease.ts';

interface Ports {
  readonly store: Documents & Pick<Store, 'head'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
}

const atOnce = 25;
/** As long as SQS keeps a message. A document that outlives its lock does no harm: its message was redelivered. */
const keptMs = 14 * dayMs;

/** Keeps messages that met a person's lock on their order until the lock ends (F-179). A message that comes again later is kept again. */
export async function keepWhileLocked(ports: Ports, orderId: string, messages: readonly Outgoing[]): Promise<void> {
  const { store, clock } = ports;
  const keptAt = clock.now();
  await allSettledOrThrow(
    messages.map(({ delayMs: _, ...message }) => {
      // A message that is sent from the inbox may meet the next lock before it is removed there.
      const id = hash('sha256', JSON.stringify([message.queue, message.body, keptAt]), 'base64url');
      return store.putDocument(
        { collection: collections.inbox(orderId), id, rev: 1, content: { ...message }, expiresAt: keptAt + keptMs },
        0,
      );
    }),
  );
  // The lock may have ended before they were kept.
  const head = await store.head(orderId);
  if (!head || !isLocked(head, clock.now())) await drain(ports, orderId);
}

/**
 * Sends the kept messages before the write after which time runs again. A process that dies in between sends them again. The instances
 * decide, not the lease: a host may have taken it after the lock.
 */
export async function sendKept(ports: Ports, orderId: string, before: Instance, after: Instance): Promise<void> {
  if (before.state.stillSince !== undefined && after.state.stillSince === undefined) await drain(ports, orderId);
}

/** Sends all kept messages to their queues, and forgets them. If it rejects or crashes, some are sent twice. */
async function drain({ store, queues }: Ports, orderId: string): Promise<void> {
  for (;;) {
    const kept = await store.documents(collections.inbox(orderId), undefined, atOnce);
    if (kept.length === 0) return;
    await queues.send(kept.map(({ content }) => content as unknown as Outgoing));
    await allSettledOrThrow(kept.map(({ collection, id, rev }) => store.removeDocument(collection, id, rev)));
  }
}
