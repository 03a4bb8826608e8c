import { since } from '#roles/dead-letters/requeue';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting, writerOf } from './law.ts';

interface Wanted {
  readonly leaseMs: number;
  readonly now: number;
}

/** How long who meets a lease waits at least, until he is told so: ten tries, each a while behind the one before. */
const leastMs = { NoRetry: 0, BasicRetry: 9 * 500, AggressiveRetry: 500 + 1000 + 2000 + 4000 + 5 * 8000 } as const;

/** Nobody in the worlds wants an order for longer. */
const longestMs = 60_000;
/** What ten looks take at the most, beside the waits between them. */
const looksMs = 2000;

/** LOCK: who wants an order for himself for a while has it for just so long, from when he takes it; and who is told that he keeps it does. What meets a lease waits for its end, and no longer. */
export function leaseTimes({ toleranceMs, standsStillMaxMs, now }: Setting): Law {
  /** By holder and order. */
  const wanted = new Map<string, Wanted>();
  const renewed = new Set<string>();
  return {
    name: 'lease times',
    after: on(['lease requested', 'locked', 'renewed', 'sent', 'written'], (observation) => {
      if (observation.type === 'sent')
        return isPostedAnew(observation) && observation.delayMs > longestMs + toleranceMs
          ? `what met a lease is to wait for ${observation.delayMs} ms: ${observation.body}`
          : undefined;
      if (observation.type === 'lease requested') {
        const { orderId, holder, leaseMs } = observation;
        wanted.set(`${holder} ${orderId}`, { leaseMs, now: observation.now });
        renewed.delete(`${holder} ${orderId}`);
      }
      if (observation.type === 'locked' && observation.afterMs < leastMs[observation.policy])
        return `${observation.orderId} is given up after ${observation.afterMs} ms, with ${observation.policy}`;
      if (observation.type === 'locked' && standsStillMaxMs === 0 && observation.afterMs > leastMs[observation.policy] + looksMs)
        return `${observation.orderId} is given up only after ${observation.afterMs} ms, with ${observation.policy}`;
      if (observation.type === 'renewed' && observation.isKept && !renewed.has(`${observation.holder} ${observation.orderId}`))
        return `${observation.holder} is told that he keeps ${observation.orderId}, and nothing was written`;
      if (observation.type !== 'written' || !observation.before) return undefined;
      const { orderId, heldBy, heldUntil } = observation.after;
      if (heldBy === null) return heldUntil === null ? undefined : `${orderId} is held by nobody until ${heldUntil}`;
      if (writerOf(observation.after) !== undefined) return undefined;
      if (heldBy === observation.before.heldBy && heldUntil === observation.before.heldUntil) return undefined;
      const own = wanted.get(`${heldBy} ${orderId}`);
      if (!own || heldUntil === null) return `${heldBy} holds ${orderId} until ${heldUntil}, and has not asked for it`;
      renewed.add(`${heldBy} ${orderId}`);
      // He takes it after he has asked for it; his clock may have jumped meanwhile.
      const from = heldUntil - own.leaseMs;
      const isSo = from >= Math.min(own.now, now()) - toleranceMs && from <= Math.max(own.now, now()) + toleranceMs;
      return isSo ? undefined : `${heldBy} wants ${orderId} for ${own.leaseMs} ms, and has it until ${heldUntil}`;
    }),
  };
}

/** An answer waits for nothing else, but for a newer program. */
const isPostedAnew = ({ queue, body, delayMs }: Extract<Observation, { type: 'sent' }>): boolean =>
  delayMs > 0 && queue.endsWith('-replies') && body.includes('"type":"reply"') && !body.includes(`"${since}"`);
