/** Pauses that double from `first` to `longest`, in milliseconds. */
export interface Backoff {
  readonly first: number;
  /** Undefined where the number of attempts limits the pause. */
  readonly longest?: number;
  /** The least and the most share of a pause, so that waiting processes do not all resume together. No jitter if it is undefined. */
  readonly jitter?: readonly [least: number, most: number];
}

/** Returns a pause after `doublings` earlier ones. `random`: from 0 to 1. */
export function backoffMs({ first, longest = Number.POSITIVE_INFINITY, jitter }: Backoff, doublings: number, random = 0): number {
  const pause = Math.min(longest, first * 2 ** doublings);
  if (!jitter) return pause;
  const [least, most] = jitter;
  return pause * (least + random * (most - least));
}
