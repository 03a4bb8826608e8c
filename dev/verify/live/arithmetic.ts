import { quantile } from './recoveries.ts';

/** One order of a live run: milliseconds since 1970. */
export interface Took {
  readonly client: string;
  /** When it was to be submitted: a client that could not submit in time has waited, too. */
  readonly dueAt: number;
  /** Undefined where it has not come to its end. */
  readonly endedAt: number | undefined;
  readonly outcome: string | null;
}

/** How long orders took: whole milliseconds. An order that has no end counts as one that takes for ever: null. */
export function timesOf(orders: readonly Took[]) {
  const rising = orders.map(({ dueAt, endedAt = Infinity }) => endedAt - dueAt).toSorted((a, b) => a - b);
  const at = (share: number): number | null => {
    const ms = quantile(rising, share);
    return ms === null || ms === Infinity ? null : Math.round(ms);
  };
  return { orders: orders.length, p50Ms: at(0.5), p99Ms: at(0.99), slowestMs: at(1) };
}

/** How many times as long, to a hundredth; null where one of both is not known. */
export const timesAsLong = (withIt: number | null, without: number | null): number | null =>
  withIt === null || without === null || without === 0 ? null : hundredths(withIt / without);

export const hundredths = (value: number): number => Math.round(100 * value) / 100;

/**
 * From the end of an outage until, for a whole window, as many orders ended as 95 of 100 of those that end before it: milliseconds.
 * Undefined where that never was. `endings` and the spans are milliseconds since 1970.
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

/** One call of a service, and whether it was answered as it should be. */
export interface CallSeen {
  readonly at: number;
  /** The idempotency key: what the call was for. */
  readonly key: string;
  readonly done: boolean;
}

/** Calls from then on, and how many of them were needed: one for each thing that was done, and not before. */
export function callsFrom(calls: readonly CallSeen[], from: number) {
  const earlier = new Set(calls.filter(({ at, done }) => done && at < from).map(({ key }) => key));
  const later = calls.filter(({ at }) => at >= from);
  const needed = new Set(later.filter(({ key, done }) => done && !earlier.has(key)).map(({ key }) => key)).size;
  return { calls: later.length, needed, callsToNeeded: needed === 0 ? null : hundredths(later.length / needed) };
}
