import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import { type Law, lawOfSteadyProcesses, type Setting } from './law.ts';

/** Consecutive failures that open the breaker. */
const failuresInRow = 5;
/** A probe is slow if it takes this many times the usual duration. A shorter usual duration counts as `usualMinMs`. */
const slowFactor = 3;
const usualMinMs = 1_000;
/** The pause before a probe doubles with each failed probe, from the first to the longest. */
const pauseMs = { first: 5_000, longest: 60_000 };

interface Call {
  readonly orderId: string;
  readonly since: number;
  readonly isProbe: boolean;
}

/** A time by the clock of the process (`now`) and by that of the world (`at`). `before`: the phase until then. */
interface Moment {
  readonly now: number;
  readonly at: number;
  readonly before: string;
}

/** Whether the last failures certainly open the breaker: they belong to more than one order. */
const mustOpenFor = (orders: readonly string[]): boolean => {
  const last = orders.slice(-failuresInRow);
  return last.length === failuresInRow && new Set(last).size > 1;
};

/** Whether the failures may open the breaker. Which of them count is not always visible. */
const mayOpenFor = (orders: readonly string[]): boolean => orders.length >= failuresInRow && new Set(orders).size > 1;

/** The calls that one process makes to the service of one agent, and its writes of the breaker. */
class Process {
  private known: Breaker | undefined;
  /** Time of the last read, by the clock of the process. */
  private readAt = 0;
  private isReading = false;
  private readonly calls = new Map<number, Call>();
  private readonly probing = new Set<number>();
  /** World time at which the process won the right to probe. */
  private mayProbeAt: number | undefined;
  /** Orders of consecutive failures: those that may count, and those that certainly count. */
  private possible: string[] = [];
  private certain: string[] = [];
  private hasAnswers = false;
  /** Durations of answers while the breaker was closed. */
  private quickest = Number.POSITIVE_INFINITY;
  private slowest = 0;
  /** Whether `slowest` is the usual duration for the process itself. */
  private hasUsual = false;
  /** World time at which the process must open or close the breaker; undefined if it need not. */
  private mustOpen: number | undefined;
  private mustClose: number | undefined;
  /** World time of the last end of a probe after which the process may close the breaker. */
  private mayCloseAt: number | undefined;

  observe({ now, event }: AgentObservation, at: number): string | undefined {
    const wrong = this.missed(at);
    if (wrong !== undefined) return wrong;
    const phase = phaseOf(this.known, now);
    switch (event.what) {
      case 'calls':
        this.calls.set(event.call, { orderId: event.orderId, since: now, isProbe: this.mayProbeAt === at });
        this.mayProbeAt = undefined;
        return undefined;
      case 'call ended':
        return this.callEnded(event, now, at);
      case 'reads breaker':
        this.isReading = true;
        return undefined;
      case 'writes breaker':
        this.mustOpen = undefined;
        return this.breakerWritten(event, now, at);
      case 'store answered':
      case 'store failed':
        if (event.isWritten === undefined) this.isReading = false;
        if (event.what === 'store answered') this.breakerRead(event, { now, at, before: phase });
        if (this.mustOpen !== undefined) this.mustOpen = at;
        return undefined;
      default:
        return undefined;
    }
  }

  /** Returns a transition that was due and did not happen. */
  missed(at: number): string | undefined {
    if (this.mustOpen !== undefined && !this.isReading && this.mustOpen !== at) return 'did not open the breaker after its failures';
    return this.mustClose !== undefined && this.mustClose !== at ? 'did not close the breaker after a good probe' : undefined;
  }

  private callEnded({ call, how, stoodStillUntil }: Extract<AgentEvent, { what: 'call ended' }>, now: number, at: number): undefined {
    const { orderId = '', since = now, isProbe = false } = this.calls.get(call) ?? {};
    this.calls.delete(call);
    if (how === 'answered') return this.answered(now - since, isProbe, now, at);
    // A process that stood still beyond the deadline may still close the breaker, for an answer that arrived meanwhile.
    if (isProbe && stoodStillUntil >= at) this.mayCloseAt = at;
    this.possible.push(orderId);
    const phase = phaseOf(this.known, now);
    // A failure that does not certainly count ends the row of certain failures. So does one that reduces the parallel calls instead.
    const counts = how === 'failed' && !isProbe && (phase === 'closed' || (phase === 'half-open' && !this.hasAnswers));
    this.certain = counts ? [...this.certain, orderId] : [];
    if (mustOpenFor(this.certain)) this.mustOpen = at;
  }

  private answered(ms: number, isProbe: boolean, now: number, at: number): undefined {
    this.possible = [];
    this.certain = [];
    this.mustOpen = undefined;
    this.hasAnswers = true;
    if (phaseOf(this.known, now) === 'closed') {
      this.quickest = Math.min(this.quickest, ms);
      this.slowest = Math.max(this.slowest, ms);
      // The process itself counts the duration only if the breaker was closed at its last read, too.
      if (phaseOf(this.known, this.readAt) === 'closed') this.hasUsual = true;
    }
    if (!isProbe) return;
    const isSlow = this.hasUsual && ms > slowFactor * Math.max(usualMinMs, this.slowest);
    if (!isSlow) this.mayCloseAt = at;
    if (ms <= slowFactor * Math.max(usualMinMs, this.quickest) && this.known?.closedAt === null) this.mustClose = at;
  }

  private breakerWritten(
    { breaker, loadedRev }: Extract<AgentEvent, { what: 'writes breaker' }>,
    now: number,
    at: number,
  ): string | undefined {
    const { known } = this;
    if (loadedRev !== (known?.rev ?? 0) || breaker.rev !== loadedRev + 1) return `writes breaker rev ${breaker.rev} over rev ${known?.rev}`;
    if (breaker.closedAt !== null) return this.closes(breaker, now, at);
    const { probeAt, failedProbes, openedAt } = breaker;
    const pause = (probeAt - now) / Math.min(pauseMs.longest, pauseMs.first * 2 ** failedProbes);
    if (pause < 0.74 || pause > 1.26) return `schedules the next probe in ${probeAt - now} ms after ${failedProbes} failed probes`;
    if (known && phaseOf(known, now) === 'open') {
      this.probing.add(breaker.rev);
      // If only calls of one client failed, the first call of another client may probe before `probeAt`. That probe clears `onlyClient`.
      const isOfOtherClient = known.onlyClient !== undefined && breaker.onlyClient === undefined;
      if (now < known.probeAt && !isOfOtherClient) return `probes ${known.probeAt - now} ms too early`;
      return failedProbes === known.failedProbes + 1 && openedAt === known.openedAt
        ? undefined
        : 'loses the start of the outage or the count of failed probes';
    }
    if (!mayOpenFor(this.possible)) return `opens the breaker after ${this.possible.length} failures`;
    const isReopened = known && phaseOf(known, now) === 'half-open';
    if (isReopened) return openedAt >= known.openedAt && failedProbes === known.failedProbes ? undefined : 'loses the earlier outage';
    return openedAt === now && failedProbes === 0 ? undefined : 'opens the breaker with an earlier outage that did not happen';
  }

  private closes(breaker: Breaker, now: number, at: number): string | undefined {
    const { known } = this;
    this.mustClose = undefined;
    if (known?.closedAt !== null) return 'closes a breaker that was not open';
    if (this.mayCloseAt !== at) return 'closes the breaker without a good probe';
    const { openedAt, failedProbes, closedAt } = breaker;
    return closedAt === now && openedAt === known.openedAt && failedProbes === known.failedProbes
      ? undefined
      : 'loses the start of the outage while it closes the breaker';
  }

  private breakerRead({ breaker, isWritten }: Extract<AgentEvent, { what: 'store answered' }>, { now, at, before }: Moment): void {
    const phase = phaseOf(breaker, now);
    if (isWritten && breaker && this.probing.has(breaker.rev)) this.mayProbeAt = at;
    if (before !== phase || phase === 'open') {
      this.certain = [];
      this.mustOpen = undefined;
    }
    if (before !== phase && phase === 'half-open') this.hasAnswers = false;
    this.known = breaker;
    this.readAt = now;
  }
}

/**
 * A process opens the breaker exactly after five consecutive failures of more than one order. A process that probes closes it when the
 * service answers as fast as before. Each write follows from the one before it.
 */
export const breakerTransitions = (times: Pick<Setting, 'now'>): Law =>
  lawOfSteadyProcesses('breaker transitions', () => new Process(), times);
