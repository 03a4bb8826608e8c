import { quantile } from './recoveries.ts';

/** The times of one order in a live run, in milliseconds since 1970. */
export interface Took {
  readonly client: string;
  /** The planned time of submission. A client that could not submit in time has waited, too. */
  readonly dueAt: number;
  /** Undefined if the order has not ended. */
  readonly endedAt: number | undefined;
  readonly outcome: string | null;
}

/** Durations of orders in whole milliseconds. An order that has not ended counts as infinitely long: null. */
export function timesOf(orders: readonly Took[]) {
  const rising = orders.map(({ dueAt, endedAt = Infinity }) => endedAt - dueAt).toSorted((a, b) => a - b);
  const at = (share: number): number | null => {
    const ms = quantile(rising, share);
    return ms === null || ms === Infinity ? null : Math.round(ms);
  };
  return { orders: orders.length, p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: at(1) };
}

/** The quotient to a hundredth; null if either duration is unknown. */
export const timesAsLong = (withIt: number | null, without: number | null): number | null =>
  withIt === null || without === null || without === 0 ? null : hundredths(withIt / without);

export const hundredths = (value: number): number => Math.round(100 * value) / 100;

/**
 * Returns the milliseconds from the end of an outage until the end of the first window with 95 % of the usual rate of endings.
 *
 * Undefined if no window has. `endings` and the spans are milliseconds since 1970.
 */
export function backAfter(
  endings: readonly number[],
  {
    before,
    over,
    until,
    windowMs,
  }: { readonly before: readonly [number, number]; readonly over: number; readonly until: number; readonly windowMs: number },
): number | undefined {
  const perMs = (from: number, to: number): number => endings.filter((at) => at >= from && at < to).length / (to - from);
  const wanted = 0.95 * perMs(...before);
  for (let start = over; start + windowMs <= until; start += 1000)
    if (perMs(start, start + windowMs) >= wanted) return start + windowMs - over;
  return undefined;
}

/** One call of a service, and whether the service carried it out (`done`). */
export interface CallSeen {
  readonly at: number;
  /** The idempotency key of the call. */
  readonly key: string;
  readonly done: boolean;
}

/** Counts the calls at `from` and later, and the needed ones among them: one for each effect that did not exist before `from`. */
export function callsFrom(calls: readonly CallSeen[], from: number) {
  const earlier = new Set(calls.filter(({ at, done }) => done && at < from).map(({ key }) => key));
  const later = calls.filter(({ at }) => at >= from);
  const needed = new Set(later.filter(({ key, done }) => done && !earlier.has(key)).map(({ key }) => key)).size;
  return { calls: later.length, needed, callsToNeeded: needed === 0 ? null : hundredths(later.length / needed) };
}
