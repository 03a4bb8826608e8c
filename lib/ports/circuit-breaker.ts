import { type Backoff, backoffMs } from '#ports/util/backoff';

/**
 * A circuit breaker, shared by all hosts of an agent. Agents write it when the remote service goes down or recovers; while the service is
 * healthy, they read it only before a call that follows a pause of `restedMs`. Times are milliseconds since 1970.
 */
export interface Breaker {
  readonly agent: string;
  /** Starts at 1 and rises by one with every write. A write must give the value that it has read. */
  readonly rev: number;
  /** The start of the outage. After a relapse: the time since which the oldest waiting request has waited. */
  readonly openedAt: number;
  /** The time from which one host may make one call to find out whether the service is back. */
  readonly probeAt: number;
  /** Number of probes that began in this outage; all but the last one have failed. The pause between probes grows with it. */
  readonly failedProbes: number;
  /** The time at which the service came back; null while it is down. */
  readonly closedAt: number | null;
  /**
   * The time in this outage, in milliseconds, in which no request needed the service: a probe was due for over an hour, and no request
   * made it. The release does not last longer because of this time. Absent: 0.
   */
  readonly idleMs?: number;
  /** The only client for which calls have failed in this outage. Another client may probe at once. */
  readonly onlyClient?: string;
}

/**
 * Store of the circuit breakers: one record for each agent whose service was ever down. A writer passes the `rev` that it read,
 * or 0 if there was no record. `refused` carries the current record, or null.
 */
export interface Breakers {
  breaker(agent: string): Promise<Breaker | undefined>;
  putBreaker(
    breaker: Breaker,
    loadedRev: number,
  ): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: Breaker | null }>;
}

/** `closed`: the service is healthy. `half-open`: the service is back, and the waiting requests are released gradually. */
export type Phase = 'closed' | 'open' | 'half-open';

/** Pauses between probes. */
const probeMs: Backoff = { first: 5_000, longest: 60_000, jitter: [0.75, 1.25] };
/** A host that has received no messages for this long reads the breaker before its next call: another host may have opened it. */
export const restedMs = 10_000;
/** A waiting request comes again at the time of the next probe. If it has not come this much later, no request waits. */
const comesWithinMs = 30_000;
/** A probe that begins this late shows that no request was waiting: a waiting request would have been the probe earlier. */
const idleMinMs = 3_600_000;
/** The shortest half-open phase. Late steps do not count as failures during that phase. */
const releaseMinMs = 10_000;

export const phaseOf = (breaker: Breaker | undefined, now: number): Phase => {
  if (!breaker) return 'closed';
  if (breaker.closedAt === null) return 'open';
  return now < releasedBy(breaker, breaker.closedAt) ? 'half-open' : 'closed';
};

/** Whether the service is down and a request waits that will be the next probe. Without such a request, only a new one can be the probe. */
export const awaitsProbe = (breaker: Breaker | undefined, now: number): boolean =>
  breaker?.closedAt === null && now <= breaker.probeAt + comesWithinMs;

/**
 * Whether a call for this client may be a probe now. If calls of one client alone have failed, the content of that client's requests may
 * be the cause, and another client need not wait.
 */
export const mayProbe = (breaker: Breaker | undefined, client: string | undefined, now: number): boolean =>
  breaker !== undefined && (now >= breaker.probeAt || (breaker.onlyClient !== undefined && breaker.onlyClient !== client));

/**
 * Returns the breaker after it opens. `random`, from 0 to 1, spreads the times of the probes. `onlyClient`: the client of all failures, if
 * they belong to one client.
 */
export function opened(agent: string, before: Breaker | undefined, now: number, random: number, onlyClient?: string): Breaker {
  // A service that fails again while half-open continues the same outage, and its probes do not become more frequent.
  const again = before && phaseOf(before, now) !== 'closed';
  const failedProbes = again ? before.failedProbes : 0;
  return {
    agent,
    rev: (before?.rev ?? 0) + 1,
    openedAt: again ? waitingFrom(before, now) : now,
    probeAt: now + pauseMs(failedProbes, random),
    failedProbes,
    closedAt: null,
    ...(again && before.closedAt === null && before.idleMs !== undefined ? { idleMs: before.idleMs } : {}),
    ...(onlyClient === undefined ? {} : { onlyClient }),
  };
}

/**
 * Returns the breaker with a probe begun for a client. The host that writes this breaker may call the service. If that host crashes,
 * another may call after `probeAt`. If the probe of another client fails too, the failures belong to several clients.
 */
export function probing({ onlyClient, ...breaker }: Breaker, client: string | undefined, now: number, random: number): Breaker {
  const late = now - breaker.probeAt;
  return {
    ...breaker,
    ...(late > idleMinMs ? { idleMs: (breaker.idleMs ?? 0) + late } : {}),
    rev: breaker.rev + 1,
    failedProbes: breaker.failedProbes + 1,
    probeAt: now + pauseMs(breaker.failedProbes + 1, random),
    ...(onlyClient !== undefined && onlyClient === client ? { onlyClient } : {}),
  };
}

/** Returns the breaker after the service has come back. */
export const closed = ({ onlyClient: _, ...breaker }: Breaker, now: number): Breaker => ({
  ...breaker,
  rev: breaker.rev + 1,
  closedAt: now,
});

const pauseMs = (failedProbes: number, random: number): number => Math.round(backoffMs(probeMs, failedProbes, random));

/** Returns how long requests waited in an outage, without the time in which no request needed the service. */
const waitedMs = ({ openedAt, idleMs = 0 }: Breaker, closedAt: number): number => Math.max(0, closedAt - openedAt - idleMs);

/** Returns how long the half-open phase lasts: three quarters of the time that requests waited, at least `releaseMinMs`. */
const releaseMs = (breaker: Breaker, closedAt: number): number => Math.max(releaseMinMs, 0.75 * waitedMs(breaker, closedAt));

/** Returns when the half-open phase ends: by then all waiting requests have been released. */
export const releasedBy = (breaker: Breaker, closedAt: number): number => closedAt + releaseMs(breaker, closedAt);

/** Returns when a request that has waited since `waitingSince` is released. Requests are released oldest first, evenly spread. */
export function releaseTimeOf(breaker: Breaker, waitingSince: number): number {
  const { closedAt } = breaker;
  if (closedAt === null) return breaker.probeAt;
  // This request was sent after the service came back, so it is released at once.
  if (waitingSince >= closedAt) return closedAt;
  const waited = waitedMs(breaker, closedAt);
  const place = 1 - (closedAt - waitingSince) / Math.max(1, waited);
  return Math.round(closedAt + releaseMs(breaker, closedAt) * Math.min(1, Math.max(0, place)));
}

/**
 * Returns since when the oldest request that is not released yet has waited. If the clock of this host is behind the writer's, no request
 * counts as released.
 */
function waitingFrom(breaker: Breaker, now: number): number {
  const { openedAt, closedAt } = breaker;
  if (closedAt === null) return openedAt;
  const share = (now - closedAt) / releaseMs(breaker, closedAt);
  return Math.round(closedAt - (1 - Math.min(1, Math.max(0, share))) * waitedMs(breaker, closedAt));
}

/**
 * Whether an outage or its release lasts now, or overlapped the time of a request that was due at `dueAt`. Such a request does not count
 * as late.
 */
export const coversLateStep = (breaker: Breaker | undefined, dueAt: number, stepMs: number, now: number): boolean =>
  breaker !== undefined &&
  (phaseOf(breaker, now) !== 'closed' ||
    (breaker.closedAt !== null && releasedBy(breaker, breaker.closedAt) > dueAt - stepMs && breaker.openedAt < dueAt));
