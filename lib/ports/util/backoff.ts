/** Pauses that double from `first` to `longest`, in milliseconds. */
export interface Backoff {
  readonly first: number;
  /** Undefined where the number of attempts limits the pause. */
  readonly longest?: number;
  /** The smallest and the largest factor of a pause, so that waiting processes do not all resume together. Absent: no jitter. */
  readonly jitter?: readonly [least: number, most: number];
}

/** Returns the pause that follows `doublings` earlier pauses. `random`: from 0 to 1. */
export function backoffMs({ first, longest = Number.POSITIVE_INFINITY, jitter }: Backoff, doublings: number, random = 0): number {
  const pause = Math.min(longest, first * 2 ** doublings);
  if (!jitter) return pause;
  const [least, most] = jitter;
  return pause * (least + random * (most - least));
}
