import type { Clock } from '#ports/clock';
import { InstanceLockedError } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';

/** What a caller does who meets an instance that another one has to himself (LOCK, InstanceLockedExceptionAction). */
export const lockPolicies = ['NoRetry', 'BasicRetry', 'AggressiveRetry'] as const;
export type LockPolicy = (typeof lockPolicies)[number];

/**
 * Which policy fits instances that are held for so long (LOCK): undefined where the chosen one does, else a sentence
 * for whoever runs the host.
 */
export function lockPolicyAdvice(policy: LockPolicy, heldMs: number): string | undefined {
  const fitting: LockPolicy = heldMs > 60_000 ? 'NoRetry' : heldMs >= 5_000 ? 'BasicRetry' : 'AggressiveRetry';
  // Not to wait at all is never wrong, only slower for the caller.
  if (policy === fitting || policy === 'NoRetry') return undefined;
  return `Instances are held for about ${Math.round(heldMs / 1000)} s: INSTANCE_LOCKED_ACTION=${fitting} fits that better than ${policy}.`;
}

export interface LockRetry {
  /** Waits after each attempt that met a lease; then the error goes to the caller. */
  readonly attemptsMax: number;
  readonly intervalMs: number;
  readonly intervalMaxMs: number;
  /** BasicRetry: d, 2d, 3d instead of d, d, d. */
  readonly growing: boolean;
}

export const defaultLockRetry: LockRetry = { attemptsMax: 10, intervalMs: 500, intervalMaxMs: 8000, growing: false };

/** Milliseconds to wait after the given attempt (from 1); undefined when the sequence is over. */
export function lockWaitMs(policy: LockPolicy, attempt: number, retry: LockRetry = defaultLockRetry): number | undefined {
  if (policy === 'NoRetry' || attempt >= retry.attemptsMax) return undefined;
  if (policy === 'BasicRetry') return Math.min(retry.growing ? retry.intervalMs * attempt : retry.intervalMs, retry.intervalMaxMs);
  return Math.min(retry.intervalMs * 2 ** (attempt - 1), retry.intervalMaxMs);
}

interface WithLockPolicy {
  readonly policy: LockPolicy;
  readonly clock: Clock;
  readonly retry?: LockRetry;
  /** All waits together take no longer. */
  readonly withinMs?: number;
  readonly onAttempt?: (attempt: number) => void;
}

/** Runs `work` again as the policy says while it meets a lease; the caller sees only success, or the last error. */
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

/** An instance that its holder has to himself. */
export interface Lease {
  readonly orderId: string;
  /** Extends it; false when it had run out and another one has it, or the order has moved on under it. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Lost races are run again at once. A message is then posted anew, so that it never nears the dead letters; whoever called is told. */
export const racesMax = 20;

/**
 * Takes the lease of one instance. It runs out by itself after `leaseMs` unless it is renewed.
 *
 * @throws InstanceLockedError when another holder has it, after the policy's retries.
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
    // What has run out, or was given back, is not taken anew: it may be another one's by now.
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

/** Changes attributes of the record whoever else is writing; false when there is no such order, or nothing to change. */
async function change(store: Store, orderId: string, make: (head: StateHead) => StateHead | undefined): Promise<boolean> {
  for (let race = 1; race <= racesMax; race++) {
    const head = await store.head(orderId);
    const changed = head && make(head);
    if (!head || !changed) return false;
    const write = await store.patch({ ...changed, rev: head.rev + 1 }, head);
    if (write.outcome === 'written') return true;
  }
  throw new Error(`The order ${orderId} changes faster than a lease can be taken. Try again.`);
}
