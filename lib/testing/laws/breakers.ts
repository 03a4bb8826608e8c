import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import { type Law, lawOfSteadyProcesses, type Setting } from './law.ts';

/** What another process has found out is known to this one so soon, and is not asked for more often. */
const freshMs = 2_000;
/** Who has neither called nor looked for so long looks first. */
const restedMs = 10_000;
const loweredForMs = 1_000;
/** It is put back only when what was noted of it is gone: by then more is known. */
const noting = 'ledger';

/** What one process was told, and how it treats the service of one agent. */
class Process {
  private told: Breaker | undefined;
  private toldAt = Number.NEGATIVE_INFINITY;
  /** The store was not to be had: what it knows is as old as before. */
  private askedInVain = false;
  private calledAt = Number.NEGATIVE_INFINITY;
  /** When it tried to be the one who goes and sees, and was not; times of the world. */
  private refusedAt: number | undefined;
  /** When it was told that it may. */
  private mayProbeAt: number | undefined;
  private readonly probing = new Set<number>();
  private readonly probes = new Set<number>();
  private readonly atWork = new Set<number>();
  /** So many at once at the most while it is half-open. */
  private most = 1;
  private loweredAt = Number.NEGATIVE_INFINITY;
  /** Calls since the last answer that may have failed. */
  private failures = 0;

  /** What is wrong with this. `at`: of the world; `now`: by its own clock. */
  takes({ agent, now, event }: AgentObservation, at: number): string | undefined {
    if (this.mayProbeAt !== at) this.mayProbeAt = undefined;
    const phase = phaseOf(this.told, now);
    switch (event.what) {
      case 'calls':
        return this.asks(event, now, phase);
      case 'call ended':
        return this.hears(event, now, phase);
      case 'reads breaker':
        return this.reads(now);
      case 'writes breaker':
        if (phase === 'open' && event.breaker.closedAt === null) this.probing.add(event.breaker.rev);
        return undefined;
      case 'store answered':
        return this.isTold(event, now, at);
      case 'store failed':
        if (event.isWritten === false) this.refusedAt = at;
        this.toldAt = now;
        this.askedInVain = true;
        return undefined;
      case 'records intent':
        if (Date.parse(event.completeBy) <= now) return `notes ${event.requestId}, for which the time is over`;
        return phase === 'open' && now < (this.told?.probeAt ?? 0) ? `notes ${event.requestId}, for which it may not call` : undefined;
      case 'requeues':
        return agent === noting ? undefined : this.putsBack(now, at, phase);
      default:
        return undefined;
    }
  }

  private asks({ call, requestId, isAbandoned }: Extract<AgentEvent, { what: 'calls' }>, now: number, phase: string): string | undefined {
    const rested = now - Math.max(this.calledAt, this.toldAt);
    const isProbe = this.mayProbeAt !== undefined;
    const before = this.atWork.size;
    this.mayProbeAt = undefined;
    this.calledAt = now;
    this.atWork.add(call);
    if (isProbe) this.probes.add(call);
    if (isAbandoned) return `calls for ${requestId}, for which the time is over`;
    if (rested >= restedMs) return `calls for ${requestId} after ${rested} ms without having looked`;
    if (phase === 'open' && !isProbe) return `calls for ${requestId}, and knows that its service is away`;
    if (phase === 'half-open' && !isProbe && before >= this.most) return `calls for ${requestId}, as the ${before + 1}th at once`;
    return undefined;
  }

  private hears({ call, how }: Extract<AgentEvent, { what: 'call ended' }>, now: number, phase: string): undefined {
    this.atWork.delete(call);
    this.calledAt = now;
    this.failures = how === 'answered' ? 0 : this.failures + 1;
    if (phase !== 'half-open') return;
    if (how === 'answered') this.most += 1;
    // Why it has given it up is not seen; and who looks first lowers it later.
    else if (how === 'abandoned') this.loweredAt = now;
    else if (now - this.toldAt >= freshMs) this.loweredAt = Number.POSITIVE_INFINITY;
    else if (!this.probes.has(call) && this.most > 1 && now - this.loweredAt >= loweredForMs) {
      this.most = Math.max(1, Math.floor(this.most / 2));
      this.loweredAt = now;
    }
  }

  private reads(now: number): string | undefined {
    const agoMs = now - this.toldAt;
    if (agoMs < freshMs) return `looks again after ${agoMs} ms`;
    const knewNothing = phaseOf(this.told, this.toldAt) === 'closed';
    const hasRested = now - Math.max(this.calledAt, this.toldAt) >= restedMs;
    return knewNothing && !this.askedInVain && !hasRested && this.failures < 2 ? 'looks, though nothing is wrong' : undefined;
  }

  private isTold({ breaker, isWritten }: Extract<AgentEvent, { what: 'store answered' }>, now: number, at: number): undefined {
    const before = phaseOf(this.told, now);
    if (isWritten === false) this.refusedAt = at;
    if (isWritten && breaker && this.probing.has(breaker.rev)) this.mayProbeAt = at;
    if (before !== 'half-open' && phaseOf(breaker, now) === 'half-open') this.most = 1;
    if (this.loweredAt > now) this.loweredAt = now;
    this.told = breaker;
    this.toldAt = now;
    this.askedInVain = false;
  }

  private putsBack(now: number, at: number, phase: string): string | undefined {
    const agoMs = now - this.toldAt;
    if (this.mayProbeAt !== undefined) return 'puts a request back, and was to go and see';
    if (phase !== 'closed' && agoMs >= freshMs) return `puts a request back on what it was told ${agoMs} ms ago`;
    // Somebody else was faster.
    if (this.refusedAt === at) return undefined;
    if (phase === 'open' && now >= (this.told?.probeAt ?? 0)) return 'puts a request back, though it may go and see';
    if (phase === 'half-open' && this.atWork.size === 0) return 'puts a request back, though none is at work';
    return undefined;
  }
}

/**
 * a service that is away is called by none who has heard of it, but by the one who goes and sees; when it is back each
 * process begins with one call at a time. In good weather nobody asks, in bad weather everybody knows within two seconds.
 */
export const breakers = (times: Pick<Setting, 'now'>): Law => lawOfSteadyProcesses('breakers', () => new Process(), times);
