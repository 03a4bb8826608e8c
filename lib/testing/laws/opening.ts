import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import { type Law, lawOfSteadyProcesses, type Setting } from './law.ts';

const failuresInRow = 5;
const slowFactor = 3;
const usualMinMs = 1_000;
const pauseMs = { first: 5_000, longest: 60_000 };

interface Call {
  readonly orderId: string;
  readonly since: number;
  readonly isProbe: boolean;
}

/** By its own clock and by the world's; `before`: what it went by until then. */
interface Moment {
  readonly now: number;
  readonly at: number;
  readonly before: string;
}

const areMany = (orders: readonly string[]): boolean => {
  const last = orders.slice(-failuresInRow);
  return last.length === failuresInRow && new Set(last).size > 1;
};

/** Where it is not certain which of them count. */
const mayBeMany = (orders: readonly string[]): boolean => orders.length >= failuresInRow && new Set(orders).size > 1;

/** What one process has heard of the service of one agent, and what it writes of it. Moments are times of the world. */
class Process {
  private told: Breaker | undefined;
  private toldAt = 0;
  private isReading = false;
  private readonly calls = new Map<number, Call>();
  private readonly probing = new Set<number>();
  private mayProbeAt: number | undefined;
  /** Orders of calls in a row that may have failed, and of those of which it is certain that they count. */
  private perhaps: string[] = [];
  private certain: string[] = [];
  private hasAnswers = false;
  /** Answers in good weather. */
  private quickest = Number.POSITIVE_INFINITY;
  private slowest = 0;
  private hasUsual = false;
  /** When it must have opened or closed it; undefined while it need not. */
  private mustOpen: number | undefined;
  private mustClose: number | undefined;
  private mayCloseAt: number | undefined;

  takes({ now, event }: AgentObservation, at: number): string | undefined {
    const wrong = this.missed(at);
    if (wrong !== undefined) return wrong;
    const phase = phaseOf(this.told, now);
    switch (event.what) {
      case 'calls':
        this.calls.set(event.call, { orderId: event.orderId, since: now, isProbe: this.mayProbeAt === at });
        this.mayProbeAt = undefined;
        return undefined;
      case 'call ended':
        return this.hears(event, now, at);
      case 'reads breaker':
        this.isReading = true;
        return undefined;
      case 'writes breaker':
        this.mustOpen = undefined;
        return this.writes(event, now, at);
      case 'store answered':
      case 'store failed':
        if (event.isWritten === undefined) this.isReading = false;
        if (event.what === 'store answered') this.isTold(event, { now, at, before: phase });
        if (this.mustOpen !== undefined) this.mustOpen = at;
        return undefined;
      default:
        return undefined;
    }
  }

  /** What was to happen at once, and did not. */
  missed(at: number): string | undefined {
    if (this.mustOpen !== undefined && !this.isReading && this.mustOpen !== at) return `tells nobody that its service is away`;
    return this.mustClose !== undefined && this.mustClose !== at ? `tells nobody that its service is back` : undefined;
  }

  private hears({ call, how, stoodStillUntil }: Extract<AgentEvent, { what: 'call ended' }>, now: number, at: number): undefined {
    const { orderId = '', since = now, isProbe = false } = this.calls.get(call) ?? {};
    this.calls.delete(call);
    if (how === 'answered') return this.answered(now - since, isProbe, now, at);
    // A process that wakes up after the deadline may take the answer that came meanwhile.
    if (isProbe && stoodStillUntil >= at) this.mayCloseAt = at;
    this.perhaps.push(orderId);
    const phase = phaseOf(this.told, now);
    // One that may count or not makes the row uncertain; so does what is lowered instead.
    const counts = how === 'failed' && !isProbe && (phase === 'closed' || (phase === 'half-open' && !this.hasAnswers));
    this.certain = counts ? [...this.certain, orderId] : [];
    if (areMany(this.certain)) this.mustOpen = at;
  }

  private answered(ms: number, isProbe: boolean, now: number, at: number): undefined {
    this.perhaps = [];
    this.certain = [];
    this.mustOpen = undefined;
    this.hasAnswers = true;
    if (phaseOf(this.told, now) === 'closed') {
      this.quickest = Math.min(this.quickest, ms);
      this.slowest = Math.max(this.slowest, ms);
      // Before it forgets what it was told it does not count: then it is not known how long answers take.
      if (phaseOf(this.told, this.toldAt) === 'closed') this.hasUsual = true;
    }
    if (!isProbe) return;
    const isSlow = this.hasUsual && ms > slowFactor * Math.max(usualMinMs, this.slowest);
    if (!isSlow) this.mayCloseAt = at;
    if (ms <= slowFactor * Math.max(usualMinMs, this.quickest) && this.told?.closedAt === null) this.mustClose = at;
  }

  private writes({ breaker, loadedRev }: Extract<AgentEvent, { what: 'writes breaker' }>, now: number, at: number): string | undefined {
    const { told } = this;
    if (loadedRev !== (told?.rev ?? 0) || breaker.rev !== loadedRev + 1) return `writes rev ${breaker.rev} upon ${told?.rev}`;
    if (breaker.closedAt !== null) return this.closes(breaker, now, at);
    const { probeAt, failedProbes, openedAt } = breaker;
    const pause = (probeAt - now) / Math.min(pauseMs.longest, pauseMs.first * 2 ** failedProbes);
    if (pause < 0.74 || pause > 1.26) return `is to go and see again in ${probeAt - now} ms, after ${failedProbes} times`;
    if (told && phaseOf(told, now) === 'open') {
      this.probing.add(breaker.rev);
      if (now < told.probeAt) return `goes and sees ${told.probeAt - now} ms too early`;
      return failedProbes === told.failedProbes + 1 && openedAt === told.openedAt ? undefined : 'forgets since when it is away';
    }
    if (!mayBeMany(this.perhaps)) return `says that its service is away after ${this.perhaps.length} failures`;
    const again = told && phaseOf(told, now) === 'half-open';
    if (again) return openedAt >= told.openedAt && failedProbes === told.failedProbes ? undefined : 'forgets that it was away before';
    return openedAt === now && failedProbes === 0 ? undefined : 'says that it was away before';
  }

  private closes(breaker: Breaker, now: number, at: number): string | undefined {
    const { told } = this;
    this.mustClose = undefined;
    if (told?.closedAt !== null) return 'says that its service is back, and it was not away';
    if (this.mayCloseAt !== at) return 'says that its service is back, and was not well answered';
    const { openedAt, failedProbes, closedAt } = breaker;
    return closedAt === now && openedAt === told.openedAt && failedProbes === told.failedProbes
      ? undefined
      : 'forgets for how long it was away';
  }

  private isTold({ breaker, isWritten }: Extract<AgentEvent, { what: 'store answered' }>, { now, at, before }: Moment): void {
    const phase = phaseOf(breaker, now);
    if (isWritten && breaker && this.probing.has(breaker.rev)) this.mayProbeAt = at;
    if (before !== phase || phase === 'open') {
      this.certain = [];
      this.mustOpen = undefined;
    }
    if (before !== phase && phase === 'half-open') this.hasAnswers = false;
    this.told = breaker;
    this.toldAt = now;
  }
}

/**
 * a process says that a service is away after five failures in a row, of more than one order, and no sooner; that it is
 * back says the one who went and saw, when it answers as quickly as ever. What they write goes by what was written before.
 */
export const opening = (times: Pick<Setting, 'now'>): Law => lawOfSteadyProcesses('opening', () => new Process(), times);
