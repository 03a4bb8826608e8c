import { waitsSinceField } from '#roles/dead-letters/requeue';
import { hasLock } from '#roles/scheduler/lease';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting, writerOf } from './law.ts';

/** A lease that a holder requests, and its clock at that time. */
interface LeaseRequest {
  readonly leaseMs: number;
  readonly now: number;
}

/** Shortest wait for a lease before the error, by lock policy: `NoRetry` tries once, the other two try ten times with pauses between. */
const leastMs = { NoRetry: 0, BasicRetry: 9 * 500, AggressiveRetry: 500 + 1000 + 2000 + 4000 + 5 * 8000 } as const;

/** Longest lease that any process of the tested worlds requests. */
const longestMs = 60_000;
/** Longest duration of the ten tries without their pauses. */
const triesMs = 2000;

/**
 * A lease lasts exactly as long as its holder requested, and a confirmed renewal was written (F-22). A host that meets a lease waits as
 * its lock policy says (F-17 to F-20). A requeued reply waits no longer than the longest lease.
 */
export function leaseDurations({ toleranceMs, standsStillMaxMs, now }: Setting): Law {
  /** Requested leases by holder and order. */
  const requested = new Map<string, LeaseRequest>();
  const renewed = new Set<string>();
  return {
    name: 'lease durations',
    after: on(['lease requested', 'locked', 'renewed', 'sent', 'written'], (observation) => {
      if (observation.type === 'sent')
        return isRequeued(observation) && observation.delayMs > longestMs + toleranceMs
          ? `a reply that met a lease was requeued with a delay of ${observation.delayMs} ms: ${observation.body}`
          : undefined;
      if (observation.type === 'lease requested') {
        const { orderId, holder, leaseMs } = observation;
        requested.set(`${holder} ${orderId}`, { leaseMs, now: observation.now });
        renewed.delete(`${holder} ${orderId}`);
      }
      if (observation.type === 'locked' && observation.afterMs < leastMs[observation.policy])
        return `order ${observation.orderId}: ${observation.policy} stopped waiting for the lease after only ${observation.afterMs} ms`;
      if (observation.type === 'locked' && standsStillMaxMs === 0 && observation.afterMs > leastMs[observation.policy] + triesMs)
        return `order ${observation.orderId}: ${observation.policy} waited for the lease for ${observation.afterMs} ms`;
      if (observation.type === 'renewed' && observation.isKept && !renewed.has(`${observation.holder} ${observation.orderId}`))
        return `order ${observation.orderId}: the renewal for ${observation.holder} was confirmed without a write`;
      if (observation.type !== 'written' || !observation.before) return undefined;
      const { orderId, heldBy, heldUntil } = observation.after;
      if (heldBy === null) return heldUntil === null ? undefined : `order ${orderId} has a lease without a holder until ${heldUntil}`;
      if (writerOf(observation.after) !== undefined || hasLock(observation.after)) return undefined;
      if (heldBy === observation.before.heldBy && heldUntil === observation.before.heldUntil) return undefined;
      const request = requested.get(`${heldBy} ${orderId}`);
      if (!request || heldUntil === null) return `order ${orderId}: ${heldBy} holds a lease until ${heldUntil} that it did not request`;
      renewed.add(`${heldBy} ${orderId}`);
      // The lease begins after the request, and the holder's clock may have jumped in between.
      const from = heldUntil - request.leaseMs;
      const isRight = from >= Math.min(request.now, now()) - toleranceMs && from <= Math.max(request.now, now()) + toleranceMs;
      return isRight
        ? undefined
        : `order ${orderId}: ${heldBy} requested a lease of ${request.leaseMs} ms, but holds it until ${heldUntil}`;
    }),
  };
}

/** Whether a reply is requeued because of a lease. The only other reason is a newer version of the program. */
const isRequeued = ({ queue, body, delayMs }: Extract<Observation, { type: 'sent' }>): boolean =>
  delayMs > 0 && queue.endsWith('-replies') && body.includes('"type":"reply"') && !body.includes(`"${waitsSinceField}"`);
