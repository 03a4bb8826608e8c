import type { Clock } from '#ports/clock';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { acquireLease, type Lease, type LockPolicy, lockPolicyAdvice } from '#roles/scheduler/lease';

/** The leases that a host has taken. It renews each one until the lease is released, a renewal fails, or the host has drained. */
export interface HostLeases {
  hold(orderId: string, leaseMs?: number): Promise<Lease | undefined>;
  releaseAll(): Promise<void>;
}

export interface HostLeasesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly holder: string;
  readonly policy: LockPolicy;
}

const leaseMsDefault = 30_000;

export function createLeases({ store, clock, telemetry, holder, policy }: HostLeasesOptions): HostLeases {
  const leases = new Map<string, Lease>();
  const drained = new AbortController();

  async function keepRenewing(lease: Lease, leaseMs: number): Promise<void> {
    while (leases.get(lease.orderId) === lease) {
      await clock.sleep(leaseMs / 3, drained.signal);
      if (drained.signal.aborted || leases.get(lease.orderId) !== lease) return;
      if (!(await lease.renew().catch(() => false))) return void leases.delete(lease.orderId);
    }
  }

  return {
    async hold(orderId, leaseMs = leaseMsDefault) {
      const lease = await acquireLease(store, orderId, { holder, leaseMs, clock, policy });
      if (!lease) return undefined;
      leases.set(orderId, lease);
      const heldSince = clock.now();
      void keepRenewing(lease, leaseMs);
      const release = (): Promise<void> => {
        leases.delete(orderId);
        const advice = lockPolicyAdvice(policy, clock.now() - heldSince);
        if (advice) telemetry.log('warn', advice, { orderId });
        return lease.release();
      };
      return { ...lease, release };
    },

    async releaseAll() {
      drained.abort();
      for (const lease of leases.values()) await lease.release();
    },
  };
}
