import type { Clock } from '#ports/clock';

/** The outages that this process has met. A process that has just started after a crash knows of none. */
export interface Outages {
  /** Records that a message failed for a transient reason. */
  met(): void;
  /** Whether messages that are redelivered now most likely met an outage. */
  areRecent(): boolean;
}

/** Fewer failures do not prove an outage. An outage leads to this many within two or three batches. */
const manyMin = 20;
/** All messages that met an outage are redelivered within this time. */
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
