/**
 * What all instances of an agent know of its remote service, since it was last away: it stays as it is in good weather,
 * when nobody reads it. Times are milliseconds since 1970.
 */
export interface Breaker {
  readonly agent: string;
  /** Rises by one at every write, from 1: its fence. */
  readonly rev: number;
  readonly openedAt: number;
  /** From then on one instance may make one call, to see whether the service is back. */
  readonly probeAt: number;
  /** Calls that found it still away. */
  readonly failedProbes: number;
  /** Since when it is back; null while it is away. */
  readonly closedAt: number | null;
}

/**
 * Keeps one record for each agent whose service was ever away. Whoever writes names the rev that he read, 0 where there was
 * nothing; `refused` carries what stands there, or null.
 */
export interface Breakers {
  breaker(agent: string): Promise<Breaker | undefined>;
  putBreaker(
    breaker: Breaker,
    loadedRev: number,
  ): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: Breaker | null }>;
}

/** Closed: as if there were none. Half-open: it is back, and what waited for it comes a little at a time. */
export type Phase = 'closed' | 'open' | 'half-open';

const firstProbeMs = 5_000;
const probeMaxMs = 60_000;
/** After so long without a call an instance looks before its next one: somebody may have found out something meanwhile. */
export const restedMs = 10_000;
/** However short it was away, so long nothing that is late counts. */
const releaseMinMs = 10_000;

export const phaseOf = (breaker: Breaker | undefined, now: number): Phase => {
  if (!breaker) return 'closed';
  if (breaker.closedAt === null) return 'open';
  return now < releasedBy(breaker, breaker.closedAt) ? 'half-open' : 'closed';
};

/** `chance` spreads those who probe, from 0 to 1. */
export function opened(agent: string, before: Breaker | undefined, now: number, random: number): Breaker {
  // Away again before all that waited was let go: it is the same absence, and is looked at no more often than before.
  const again = before && phaseOf(before, now) !== 'closed';
  const failedProbes = again ? before.failedProbes : 0;
  return {
    agent,
    rev: (before?.rev ?? 0) + 1,
    openedAt: again ? waitingFrom(before, now) : now,
    probeAt: now + pauseMs(failedProbes, random),
    failedProbes,
    closedAt: null,
  };
}

/** Whoever writes this is the one who may call; where he is not heard of again, the next one may. */
export const probing = (breaker: Breaker, now: number, random: number): Breaker => ({
  ...breaker,
  rev: breaker.rev + 1,
  failedProbes: breaker.failedProbes + 1,
  probeAt: now + pauseMs(breaker.failedProbes + 1, random),
});

export const closed = (breaker: Breaker, now: number): Breaker => ({ ...breaker, rev: breaker.rev + 1, closedAt: now });

const pauseMs = (failedProbes: number, random: number): number =>
  Math.round(Math.min(probeMaxMs, firstProbeMs * 2 ** Math.min(failedProbes, 10)) * (0.75 + random / 2));

/** All that waited is let go within three quarters of the time for which the service was away. */
const releaseMs = ({ openedAt }: Breaker, closedAt: number): number => Math.max(releaseMinMs, 0.75 * (closedAt - openedAt));

/** When the last of those who waited has had his turn. */
export const releasedBy = (breaker: Breaker, closedAt: number): number => closedAt + releaseMs(breaker, closedAt);

/** When somebody who has waited since then has his turn: in the order in which they came, evenly spread. */
export function turnOf(breaker: Breaker, waitingSince: number): number {
  const { openedAt, closedAt } = breaker;
  if (closedAt === null) return breaker.probeAt;
  // Asked since, and had no luck: it has had its turn.
  if (waitingSince >= closedAt) return closedAt;
  const place = (waitingSince - openedAt) / Math.max(1, closedAt - openedAt);
  return Math.round(closedAt + releaseMs(breaker, closedAt) * Math.min(1, Math.max(0, place)));
}

/** Since when those have waited who have had no turn yet; all of them, for a clock that is behind the one that says it is back. */
function waitingFrom({ openedAt, closedAt, ...breaker }: Breaker, now: number): number {
  if (closedAt === null) return openedAt;
  const share = (now - closedAt) / releaseMs({ openedAt, closedAt, ...breaker }, closedAt);
  return Math.round(openedAt + Math.min(1, Math.max(0, share)) * (closedAt - openedAt));
}

/** Whether an asking that should have been answered by `dueAt` was behind it for some of its time: then it is not late. */
export const coversLateStep = (breaker: Breaker | undefined, dueAt: number, stepMs: number, now: number): boolean =>
  breaker !== undefined &&
  (phaseOf(breaker, now) !== 'closed' ||
    (breaker.closedAt !== null && releasedBy(breaker, breaker.closedAt) > dueAt - stepMs && breaker.openedAt < dueAt));
