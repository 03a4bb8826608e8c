import type { Clock } from '#ports/clock';
import { InstanceLockedError } from '#ports/errors';
import { wakeUpOf } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Note } from '#ports/records';
import type { Store } from '#ports/store';
import { compareAndSet } from '#ports/util/compare-and-set';
import { isHeldByOther } from '#roles/scheduler/lease';
import { readableHead } from '#roles/scheduler/load';

interface Ports {
  readonly store: Pick<Store, 'head' | 'patch'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
}

/**
 * Notes normally wait for the order's next write. This many waiting notes trigger a wake-up, because the order may have no further write.
 */
const notesMax = 20;

/**
 * Adds a note to an order, for its history. `nobody`: the order does not exist or cannot be read. `lost`: other writes won too many
 * races.
 *
 * @throws InstanceLockedError when another host holds the lease of the order.
 */
export async function noteOnOrder(orderId: string, note: Note, { store, queues, clock }: Ports): Promise<'noted' | 'nobody' | 'lost'> {
  return compareAndSet(async () => {
    const head = await readableHead(orderId, store);
    if (!head) return 'nobody';
    const now = clock.now();
    if (isHeldByOther(head, '', now)) throw new InstanceLockedError(orderId, head.heldUntil ?? now);
    const notes = [...head.notes, note];
    if ((await store.patch({ ...head, rev: head.rev + 1, notes }, head)).outcome === 'refused') return 'lost';
    if (notes.length >= notesMax) await queues.send([wakeUpOf(head, now)]);
    return 'noted';
  });
}
