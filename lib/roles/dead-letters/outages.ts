import type { Clock } from '#ports/clock';

/** Whether this process has met an outage: a process that died over a message remembers none. */
export interface Outages {
  /** A message could not be processed for a reason that passes. */
  met(): void;
  /** Messages that come again now met the same, most likely. */
  areRecent(): boolean;
}

/** Fewer may be anything; an outage brings so many with two or three batches. */
const manyMin = 20;
/** Whatever met an outage comes again within that. */
const recentMs = 120_000;

export function createOutages(clock: Clock): Outages {
  const times: number[] = [];
  return {
    met() {
      times.push(clock.now());
      if (times.length > manyMin) times.shift();
    },
    areRecent: () => times.length === manyMin && (times[0] ?? 0) > clock.now() - recentMs,
  };
}
