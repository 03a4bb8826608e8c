import type { Clock } from '#ports/clock';
import type { Document } from '#ports/documents';
import { InstanceLockedError } from '#ports/errors';
import { wakeUpOf } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import { compareAndSet, racesMaxUsual } from '#ports/util/compare-and-set';
import { isHeldByOther, isLocked, type LockPolicy, lockHolderOf, personHolder, withLockPolicy } from '#roles/scheduler/lease';
import type { Orders } from '#roles/scheduler/orders';
import type { Incoming } from '#roles/scheduler/types';
import type { Writer } from '#roles/scheduler/writer';
import { lockWaitMaxMs } from './instruct.ts';

export type Locked =
  | { readonly outcome: 'locked'; readonly rev: number; readonly until: number }
  | { readonly outcome: 'unlocked' }
  /** The order had no lock. */
  | { readonly outcome: 'free' }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'finished' };

interface LockOptions {
  /** Names the API call. */
  readonly id: string;
  /** The operator. */
  readonly by: string;
  /** Returns new documents for the transaction of the write. */
  readonly beside?: (before: StateHead, after: StateHead) => readonly Document[];
}

/** A person's lock on an order: until it ends, no host and no other person writes the order, and its deadlines stand still (F-15). */
export interface Locking {
  /**
   * Locks the order, or renews the lock of the same person.
   *
   * @throws InstanceLockedError when another person or host holds the order for longer than the lock policy waits.
   */
  lock(orderId: string, options: LockOptions & { readonly seconds: number; readonly reason: string }): Promise<Locked>;
  /**
   * Ends the lock, and wakes the order, which takes up the messages that came during the lock. `anyones`: an admin may end the lock of
   * another person.
   *
   * @throws InstanceLockedError when another person holds the order.
   */
  unlock(orderId: string, options: LockOptions & { readonly anyones: boolean }): Promise<Locked>;
}

interface Ports {
  readonly clock: Clock;
  readonly queues: Pick<Queues, 'send'>;
  readonly hostId: string;
  readonly lockPolicy?: LockPolicy;
}

export function createLocking(
  { clock, queues, hostId, lockPolicy = 'NoRetry' }: Ports,
  orders: Pick<Orders, 'load' | 'planOf'>,
  writer: Pick<Writer, 'save'>,
): Locking {
  type Found = NonNullable<Awaited<ReturnType<typeof orders.load>>>;

  /** Writes one change of the lock; tries again after each lost race. `change` returns the message to apply, or why there is none. */
  async function write(
    orderId: string,
    { beside }: LockOptions,
    change: (found: Found, now: number) => Incoming | Locked,
  ): Promise<{ readonly rev: number; readonly found: Found } | Locked> {
    const result = await compareAndSet(async () => {
      const found = await orders.load(orderId);
      if (!found) return { outcome: 'not-found' } as const;
      const now = clock.now();
      const made = change(found, now);
      if ('outcome' in made) return made;
      const planned = await orders.planOf(found, [made], now);
      if (!planned) return { outcome: 'free' } as const;
      const saved = await writer.save(found, planned, {
        replan: (byteBudget) => orders.planOf(found, [made], now, byteBudget),
        leavesUnsent: true,
        ...(beside ? { beside: (after: StateHead) => beside(found.record, after) } : {}),
      });
      return saved === 'written' ? { rev: found.record.rev + 1, found } : 'lost';
    });
    if (result === 'lost')
      throw new Error(`Cannot change the lock of order ${orderId}: other writes won all ${racesMaxUsual} races. Try again.`);
    return result;
  }

  async function lock(...[orderId, options]: Parameters<Locking['lock']>): Promise<Locked> {
    const { id, by, reason, seconds } = options;
    let until = 0;
    const written = await write(orderId, options, ({ record }, now) => {
      if (record.processState === 'Processed') return { outcome: 'finished' };
      if (record.heldBy !== personHolder(by)) refuseHeld(record, hostId, now);
      until = now + seconds * 1000;
      return { id, type: 'lock', by, reason, until };
    });
    return 'outcome' in written ? written : { outcome: 'locked', rev: written.rev, until };
  }

  return {
    lock: (orderId, options) => withLockPolicy(() => lock(orderId, options), { policy: lockPolicy, clock, withinMs: lockWaitMaxMs }),

    async unlock(orderId, options) {
      const { id, by, anyones } = options;
      const written = await write(orderId, options, ({ record }, now) => {
        if (!isLocked(record, now)) return { outcome: 'free' };
        if (!anyones && record.heldBy !== personHolder(by)) refuseHeld(record, '', now);
        return { id, type: 'unlock', by };
      });
      if ('outcome' in written) return written;
      // If this fails, the supervisor wakes the order.
      await queues.send([wakeUpOf(written.found.order, clock.now())]).catch(() => undefined);
      return { outcome: 'unlocked' };
    },
  };
}

function refuseHeld(record: StateHead, holder: string, now: number): void {
  if (isHeldByOther(record, holder, now)) throw new InstanceLockedError(record.orderId, record.heldUntil ?? now, lockHolderOf(record));
}
