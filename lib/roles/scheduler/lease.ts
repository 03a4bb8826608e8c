import type { Clock } from '#ports/clock';
import { InstanceLockedError } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { backoffMs } from '#ports/util/backoff';
import { compareAndSet, racesMaxUsual } from '#ports/util/compare-and-set';

/** Retry policies of a host that needs an instance while another host holds its lease (InstanceLockedExceptionAction). */
export const lockPolicies = ['NoRetry', 'BasicRetry', 'AggressiveRetry'] as const;
export type LockPolicy = (typeof lockPolicies)[number];

/**
 * Returns advice for the operator of a host if another policy fits leases of this duration better; undefined if the chosen policy fits, or
 * if it is NoRetry.
 */
export function lockPolicyAdvice(policy: LockPolicy, heldMs: number): string | undefined {
  const fitting: LockPolicy = heldMs > 60_000 ? 'NoRetry' : heldMs >= 5_000 ? 'BasicRetry' : 'AggressiveRetry';
  // NoRetry is always correct: the sender of the message or the API call tries again, which is only slower.
  if (policy === fitting || policy === 'NoRetry') return undefined;
  return `Leases last about ${Math.round(heldMs / 1000)} s: set INSTANCE_LOCKED_ACTION=${fitting} instead of ${policy}.`;
}

export interface LockRetry {
  /** Number of attempts. If the last one fails, its error is thrown. */
  readonly attemptsMax: number;
  readonly intervalMs: number;
  readonly intervalMaxMs: number;
  /** Whether the waits with BasicRetry are d, 2d, 3d instead of d, d, d. */
  readonly growing: boolean;
}

export const defaultLockRetry: LockRetry = { attemptsMax: 10, intervalMs: 500, intervalMaxMs: 8000, growing: false };

/** Returns the milliseconds to wait after an attempt, counted from 1; undefined after the last one. */
export function lockWaitMs(policy: LockPolicy, attempt: number, retry: LockRetry = defaultLockRetry): number | undefined {
  if (policy === 'NoRetry' || attempt >= retry.attemptsMax) return undefined;
  if (policy === 'BasicRetry') return Math.min(retry.growing ? retry.intervalMs * attempt : retry.intervalMs, retry.intervalMaxMs);
  return backoffMs({ first: retry.intervalMs, longest: retry.intervalMaxMs }, attempt - 1);
}

interface WithLockPolicy {
  readonly policy: LockPolicy;
  readonly clock: Clock;
  readonly retry?: LockRetry;
  /** Limit of all waits together, in milliseconds. */
  readonly withinMs?: number;
  readonly onAttempt?: (attempt: number) => void;
}

/** Runs `work`, and repeats it as the policy says while another host holds the lease. Rejects with the last error. */
export async function withLockPolicy<T>(
  work: () => Promise<T>,
  { policy, clock, retry, withinMs = Number.POSITIVE_INFINITY, onAttempt }: WithLockPolicy,
): Promise<T> {
  for (let attempt = 1, leftMs = withinMs; ; attempt++) {
    onAttempt?.(attempt);
    try {
      return await work();
    } catch (error) {
      const waitMs = error instanceof InstanceLockedError ? lockWaitMs(policy, attempt, retry) : undefined;
      if (waitMs === undefined || leftMs <= 0) throw error;
      await clock.sleep(Math.min(waitMs, leftMs));
      leftMs -= waitMs;
    }
  }
}

export const isHeldByOther = ({ heldBy, heldUntil }: Pick<StateHead, 'heldBy' | 'heldUntil'>, holder: string, now: number): boolean =>
  heldBy !== null && heldBy !== holder && heldUntil !== null && heldUntil > now;

/** The prefix of `heldBy` while a person locks the order (LOCK). Meanwhile, hosts write the order only for API calls of that person. */
const personPrefix = 'person:';
/** The value of `heldBy` after a person has given up a lock, until the next write has taken up the messages that came during the lock. */
export const releasedHolder = 'released';
/** The prefix of `heldBy` after a lock was over by time, until the next write has taken up those messages. The person's id follows it. */
const expiredPrefix = 'expired:';

export const personHolder = (subject: string): string => personPrefix + subject;

/** Returns the subject of the person who holds the lock. */
export const lockHolderOf = ({ heldBy }: Pick<StateHead, 'heldBy'>): string | undefined =>
  heldBy?.startsWith(personPrefix) ? heldBy.slice(personPrefix.length) : undefined;

/**
 * Writes that a lock is over by time, before the messages that came during it are sent: hosts with slower clocks would keep them again. A
 * lost race changes nothing.
 */
export async function endLockByTime(store: Pick<Store, 'patch'>, head: StateHead): Promise<void> {
  const holder = lockHolderOf(head);
  if (holder !== undefined) await store.patch({ ...head, rev: head.rev + 1, heldBy: expiredPrefix + holder }, head);
}

/** Returns the subject of the person whose lock is over by time. */
export const expiredHolderOf = ({ heldBy }: Pick<StateHead, 'heldBy'>): string | undefined =>
  heldBy?.startsWith(expiredPrefix) ? heldBy.slice(expiredPrefix.length) : undefined;

/** Whether a lock is over, and the next write takes up the messages that came during it. */
export const isReleased = (lease: Pick<StateHead, 'heldBy'>): boolean =>
  lease.heldBy === releasedHolder || expiredHolderOf(lease) !== undefined;

/** Whether a person's lock is on the order, or its end has not been written yet. */
export const hasLock = ({ heldBy }: Pick<StateHead, 'heldBy'>): boolean => isReleased({ heldBy }) || lockHolderOf({ heldBy }) !== undefined;

/** Whether a person's lock lasts. A lock that the person gave up is over even by a slow clock. */
export const isLocked = (lease: Pick<StateHead, 'heldBy' | 'heldUntil'>, now: number): boolean =>
  lockHolderOf(lease) !== undefined && (lease.heldUntil ?? 0) > now;

/** Exclusive use of one instance. */
export interface Lease {
  readonly orderId: string;
  /** Extends the lease; resolves to false when it has expired or was released, or when the order is gone. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Takes the lease of one instance; resolves to undefined when the order does not exist. The lease expires after
 * `leaseMs` unless it is renewed.
 *
 * @throws InstanceLockedError when another host still holds it after the policy's retries.
 */
export async function acquireLease(
  store: Store,
  orderId: string,
  options: { holder: string; leaseMs: number; clock: Clock; policy?: LockPolicy; retry?: LockRetry; onAttempt?: (attempt: number) => void },
): Promise<Lease | undefined> {
  const { holder, leaseMs, clock, policy = 'NoRetry' } = options;
  const taken = await withLockPolicy(() => holdUntil(store, orderId, holder, leaseMs, clock), { ...options, policy });
  if (!taken) return undefined;

  return {
    orderId,
    // An expired or released lease is not renewed: another host may hold it by now.
    renew: () =>
      change(store, orderId, (head) =>
        head.heldBy === holder && (head.heldUntil ?? 0) > clock.now() ? { ...head, heldUntil: clock.now() + leaseMs } : undefined,
      ),
    release: () =>
      change(store, orderId, (head) => (head.heldBy === holder ? { ...head, heldBy: null, heldUntil: null } : undefined)).then(
        () => undefined,
      ),
  };
}

const holdUntil = (store: Store, orderId: string, holder: string, leaseMs: number, clock: Clock): Promise<boolean> =>
  change(store, orderId, (head) => {
    const now = clock.now();
    if (isHeldByOther(head, holder, now)) throw new InstanceLockedError(orderId, head.heldUntil ?? now);
    return { ...head, heldBy: holder, heldUntil: now + leaseMs };
  });

/** Changes record attributes, again after each lost race; resolves to false when `make` or the store returns nothing. */
async function change(store: Store, orderId: string, make: (head: StateHead) => StateHead | undefined): Promise<boolean> {
  const isChanged = await compareAndSet(async () => {
    const head = await store.head(orderId);
    const changed = head && make(head);
    if (!head || !changed) return false;
    const write = await store.patch({ ...changed, rev: head.rev + 1 }, head);
    return write.outcome === 'written' ? true : 'lost';
  });
  if (isChanged === 'lost')
    throw new Error(`Cannot change the lease of order ${orderId}: other writes won all ${racesMaxUsual} races. Try again.`);
  return isChanged;
}
