import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import { type Law, lawOfSteadyProcesses, recordsIntents, type Setting } from './law.ts';

/** The time for which a process may rely on its copy of the breaker. The process does not read the breaker again sooner. */
const freshMs = 2_000;
/** A process that has neither received messages nor read the breaker for this long reads it before the next call. */
const idleMs = 10_000;
/** Minimum time between two reductions of the number of parallel calls. */
const loweredForMs = 1_000;
/** After this many slow reads in a row, a process relies on the last answer: a slow store must not stop the calls. */
const slowReadsMax = 3;

/** The moment at which an access of the breaker began, by the clock of the process. An answer shows nothing of later changes. */
interface Moment {
  readonly at: number;
  /** Number of arrivals of messages after a rest, until then. */
  readonly rests: number;
}

/** The view that one process has of the service of one agent. Times are by the clock of the process unless noted. */
class Process {
  private known: Breaker | undefined;
  /** Accesses that were not answered yet. */
  private readonly begun = new Map<number, Moment>();
  /** The moment at which the access began that returned the copy. */
  private read: Moment = { at: Number.NEGATIVE_INFINITY, rests: 0 };
  private answeredAt = Number.NEGATIVE_INFINITY;
  /** Reads in a row whose answer was old already, because the store was slow or the process stood still. */
  private slowReads = 0;
  /** Whether the last read failed. The copy of the breaker is then as old as before that read. */
  private readFailed = false;
  private arrivedAt = Number.NEGATIVE_INFINITY;
  /** Number of arrivals of messages after a rest. */
  private rests = 0;
  /** World time at which another process won the right to probe, the write failed, or the own right ended before the answer came. */
  private refusedAt: number | undefined;
  /** World time at which it won the right to probe. */
  private mayProbeAt: number | undefined;
  private readonly probing = new Set<number>();
  private readonly probes = new Set<number>();
  private readonly running = new Set<number>();
  /** Maximum number of parallel calls while the breaker is half-open. */
  private allowed = 1;
  private loweredAt = Number.NEGATIVE_INFINITY;
  /** Failed or abandoned calls since the last answer. A call that ends while the process stops counts, too. */
  private failures = 0;
  private readonly setting: Pick<Setting, 'agents'>;

  constructor(setting: Pick<Setting, 'agents'>) {
    this.setting = setting;
  }

  /** Returns what is wrong. `at` is world time. */
  observe({ agent, now, event }: AgentObservation, at: number): string | undefined {
    if (this.mayProbeAt !== at) this.mayProbeAt = undefined;
    const phase = phaseOf(this.known, now);
    switch (event.what) {
      case 'messages arrive':
        if (now - this.arrivedAt >= idleMs) this.rests += 1;
        this.arrivedAt = now;
        return undefined;
      case 'calls':
        return this.callStarted(event, now, phase);
      case 'call ended':
        return this.callEnded(event, now, phase);
      case 'reads breaker':
        this.begun.set(event.access, this.moment(now));
        return this.reads(now);
      case 'writes breaker':
        this.begun.set(event.access, this.moment(now));
        if (phase === 'open' && event.breaker.closedAt === null) this.probing.add(event.breaker.rev);
        return undefined;
      case 'store answered':
        return this.breakerRead(event, now, at);
      case 'store failed':
        if (event.isWritten === false) this.refusedAt = at;
        this.read = this.moment(now);
        this.answeredAt = now;
        this.slowReads = 0;
        this.readFailed = true;
        return undefined;
      case 'records intent':
        if (Date.parse(event.completeBy) <= now) return `records an intent for request ${event.requestId} after its deadline`;
        return phase === 'open' && now < (this.known?.probeAt ?? 0)
          ? `records an intent for request ${event.requestId} while the breaker is open`
          : undefined;
      case 'requeues':
        return recordsIntents(agent, this.setting) ? undefined : this.requeues(now, at, phase);
      default:
        return undefined;
    }
  }

  private callStarted(
    { call, requestId, isAbandoned }: Extract<AgentEvent, { what: 'calls' }>,
    now: number,
    phase: string,
  ): string | undefined {
    const isProbe = this.mayProbeAt !== undefined;
    const before = this.running.size;
    this.mayProbeAt = undefined;
    this.running.add(call);
    if (isProbe) this.probes.add(call);
    if (isAbandoned) return `calls its service for request ${requestId} after its deadline`;
    if (this.hasRested(now) && !isProbe && this.slowReads < slowReadsMax)
      return `calls its service for request ${requestId} after a rest without reading the breaker`;
    if (phase === 'open' && !isProbe) return `calls its service for request ${requestId} while the breaker is open`;
    if (phase === 'half-open' && !isProbe && before >= this.allowed)
      return `calls its service for request ${requestId}: ${before + 1} parallel calls while half-open, allowed ${this.allowed}`;
    return undefined;
  }

  private callEnded({ call, how, isStopping }: Extract<AgentEvent, { what: 'call ended' }>, now: number, phase: string): undefined {
    this.running.delete(call);
    // A process that must stop does not wait for the answer of a canceled call.
    this.failures = how === 'answered' && !isStopping ? 0 : this.failures + 1;
    if (phase !== 'half-open') return;
    if (how === 'answered') this.allowed += 1;
    // The reason for abandoning a call is not visible, so the limit may or may not be lower now. If the process has an old copy of the
    // breaker, it lowers the limit only after its next read.
    else if (how === 'abandoned') this.loweredAt = now;
    else if (now - this.read.at >= freshMs) this.loweredAt = Number.POSITIVE_INFINITY;
    else if (!this.probes.has(call) && this.allowed > 1 && now - this.loweredAt >= loweredForMs) {
      this.allowed = Math.max(1, Math.floor(this.allowed / 2));
      this.loweredAt = now;
    }
  }

  private reads(now: number): string | undefined {
    // The time since the last read began. After a read that took at least `freshMs`, another may begin at once.
    const agoMs = now - this.read.at;
    // If messages have arrived after a rest since then, the channel may have been opened with a canary, so the process may read again.
    if (agoMs < freshMs && !this.isUnread) return `reads the breaker again after only ${agoMs} ms`;
    const wasClosed = phaseOf(this.known, this.answeredAt) === 'closed';
    return wasClosed && !this.readFailed && !this.hasRested(now) && this.failures < 2
      ? 'reads the breaker although its service is well'
      : undefined;
  }

  private breakerRead({ access, breaker, isWritten }: Extract<AgentEvent, { what: 'store answered' }>, now: number, at: number): undefined {
    const before = phaseOf(this.known, now);
    if (isWritten === false) this.refusedAt = at;
    // The right to probe ends at `probeAt`. Then another process may probe.
    if (isWritten && breaker && this.probing.has(breaker.rev)) this[now < breaker.probeAt ? 'mayProbeAt' : 'refusedAt'] = at;
    if (before !== 'half-open' && phaseOf(breaker, now) === 'half-open') this.allowed = 1;
    if (this.loweredAt > now) this.loweredAt = now;
    this.known = breaker;
    this.read = this.begun.get(access) ?? this.moment(now);
    this.begun.delete(access);
    this.answeredAt = now;
    this.readFailed = false;
    const isOld = this.hasRested(now) || (phaseOf(breaker, now) !== 'closed' && now - this.read.at >= freshMs);
    if (isWritten === undefined) this.slowReads = isOld ? this.slowReads + 1 : 0;
  }

  private moment(now: number): Moment {
    return { at: now, rests: this.rests };
  }

  /** Whether messages have arrived after a rest, and no read of the breaker has begun since then. */
  private get isUnread(): boolean {
    return this.rests > this.read.rests;
  }

  /** Whether messages came after a rest, or are at work for so long that the channel may have been closed and opened again. */
  private hasRested(now: number): boolean {
    return this.isUnread || now - Math.max(this.arrivedAt, this.read.at) >= idleMs;
  }

  private requeues(now: number, at: number, phase: string): string | undefined {
    const agoMs = now - this.read.at;
    if (this.mayProbeAt !== undefined) return 'requeues a request although it won the right to probe';
    // The process asked for the right to probe, and did not get it.
    if (this.refusedAt === at) return undefined;
    if (phase !== 'closed' && agoMs >= freshMs && this.slowReads < slowReadsMax)
      return `requeues a request because of a breaker that it read ${agoMs} ms ago`;
    if (phase === 'open' && now >= (this.known?.probeAt ?? 0)) return 'requeues a request although it may probe';
    if (phase === 'half-open' && this.running.size === 0) return 'requeues a request although no call is running';
    return undefined;
  }
}

/**
 * A process that knows of an outage does not call the service, except for the one that probes. After the outage each process begins
 * with one call at a time. While the breaker is closed, a process reads it only after a rest between messages or after failures; in an
 * outage its copy is at most two seconds old, counted from the beginning of the read.
 */
export const circuitBreakers = (setting: Pick<Setting, 'now' | 'agents'>): Law =>
  lawOfSteadyProcesses('circuit breakers', () => new Process(setting), setting);
