import type { Clock } from '#ports/clock';

/**
 * Limit of the concurrent calls of a service that recovers. It doubles with each round of answers until the first overload, and grows by
 * one with each round after it.
 */
export interface ConcurrencyLimit {
  /** Starts again at one call. */
  reset(): void;
  allows(callsAtWork: number): boolean;
  /** Raises the limit after an answer. */
  raise(): void;
  /** Whether the limit is above one call, the lowest limit. */
  canLower(): boolean;
  /** Halves the limit, once for all calls that fail together; returns whether it did. */
  lower(): boolean;
}

/** Failures within this time after a lowering belong to the same overload. They do not lower the limit again. */
const loweredForMs = 1_000;

export function createConcurrencyLimit(clock: Pick<Clock, 'now'>): ConcurrencyLimit {
  let limit = 1;
  let wasOverloaded = false;
  let loweredAt = Number.NEGATIVE_INFINITY;
  return {
    reset() {
      limit = 1;
      wasOverloaded = false;
    },
    allows: (callsAtWork) => callsAtWork < limit,
    raise() {
      limit += wasOverloaded ? 1 / limit : 1;
    },
    canLower: () => limit > 1,
    lower() {
      const now = clock.now();
      if (now - loweredAt < loweredForMs) return false;
      loweredAt = now;
      wasOverloaded = true;
      limit = Math.max(1, Math.floor(limit / 2));
      return true;
    },
  };
}
