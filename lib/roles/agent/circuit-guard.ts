import { type Breaker, type Breakers, closed, mayProbe, opened, phaseOf, probing, restedMs } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { type CalledFor, Outcomes } from './outcomes.ts';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

/** Permission for one call of the service. The agent reports the result through exactly one of the methods. */
export interface Permit {
  /** The call tests whether the service is back: all other calls wait for its result. */
  readonly isProbe: boolean;
  /** The service answered, with a success or a permanent failure. */
  answered(): Promise<void>;
  /** The service did not answer, or is temporarily unavailable. */
  failed(): Promise<void>;
  /** The result says nothing about the service: the agent gave up the call, or the operation has a programming error. */
  release(): void;
}

export interface GuardOptions {
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

/** If the breaker is not closed, or calls fail, a read older than this is repeated: another process may have changed the breaker. */
const freshMs = 2_000;
/**
 * Maximum number of reads of the breaker before one call of the service. A store that is always slow must not stop calls of a healthy
 * service.
 */
const readsMax = 3;
/** A probe that takes this many times the usual duration shows that the service has not recovered yet. */
const slowFactor = 3;
/** A shorter usual duration counts as this one, so that a probe of a fast service may be a little slow. */
const usualMinMs = 1_000;

/**
 * The moment before an access of the store. The process may stand still before it gets the answer, and the answer says nothing about
 * changes after this moment. `rests`: the number of rests until then.
 */
interface Moment {
  readonly at: number;
  readonly rests: number;
}

/**
 * The circuit breaker of one agent in one process. It limits calls of the remote service and shares outages with other processes through
 * the store. While the service is healthy, the guard reads the store only at the beginning and after a rest (`arrived`).
 */
export class CircuitGuard {
  private readonly agent: string;
  private readonly options: GuardOptions;
  private readonly retries: RetryBudget;
  /** Applies while the breaker is half-open. */
  private readonly limit: ConcurrencyLimit;
  /** The breaker unless it is closed; undefined while this process knows of no outage. */
  private known: Breaker | undefined;
  /** The moment before the last access of the store, even of a failed one. */
  private read: Moment = { at: Number.NEGATIVE_INFINITY, rests: 0 };
  private arrivedAt = Number.NEGATIVE_INFINITY;
  /** Number of times that messages arrived after a rest. */
  private rests = 0;
  /** The read of the breaker that is under way. */
  private looking: Promise<void> | undefined;
  private readonly outcomes = new Outcomes();
  /** Moving average of the duration of an answered call. */
  private usualMs: number | undefined;
  private callsUnderWay = 0;
  /** The breaker as last read or written, even if it is closed. Its `rev` fences the next write. */
  private last: Breaker | undefined;

  constructor(agent: string, options: GuardOptions) {
    this.agent = agent;
    this.options = options;
    this.retries = createRetryBudget(options.clock);
    this.limit = createConcurrencyLimit(options.clock);
  }

  /** Whether this process knows of no outage and has received messages recently, so that it need not read the breaker. */
  get isClosed(): boolean {
    return this.known === undefined && !this.hasRested;
  }

  private phaseNow(): ReturnType<typeof phaseOf> {
    return phaseOf(this.known, this.options.clock.now());
  }

  private get hasRested(): boolean {
    return this.rests > this.read.rests || this.options.clock.now() - Math.max(this.arrivedAt, this.read.at) >= restedMs;
  }

  private get isOld(): boolean {
    return this.options.clock.now() - this.read.at >= freshMs;
  }

  /**
   * Notes that messages have arrived. A rest is a time without arrivals. A process may still work on earlier messages after its channel was
   * closed. So neither its calls nor its reads during a rest show that it knows the present breaker.
   */
  arrived(): void {
    const now = this.options.clock.now();
    if (now - this.arrivedAt >= restedMs) this.rests += 1;
    this.arrivedAt = now;
  }

  /** Returns a permit for a healthy service. */
  enter(call: CalledFor): Permit {
    return this.permit(call, false);
  }

  /** Whether nobody may call the service for this client now. */
  async isShut(call: CalledFor): Promise<boolean> {
    const { clock } = this.options;
    // The answer of a read is old if the store was slow, or if the process stood still before it continued.
    for (let reads = 0; reads < readsMax && (this.hasRested || (this.known && this.isOld)); reads++) await this.look();
    return this.phaseNow() === 'open' && !mayProbe(this.known, call.client, clock.now());
  }

  /** Returns a permit, or undefined if the service may not be called now. While the breaker is closed, a retry uses the retry budget. */
  async acquirePermit(call: CalledFor, { repeated }: { readonly repeated: boolean }): Promise<Permit | undefined> {
    if (await this.isShut(call)) return undefined;
    const phase = this.phaseNow();
    if (phase === 'open') return (await this.probes(call)) ? this.permit(call, true) : undefined;
    if (phase === 'half-open' && !this.limit.allows(this.callsUnderWay)) return undefined;
    if (phase === 'closed') this.known = undefined;
    if (repeated && phase === 'closed' && !this.retries.spend()) return undefined;
    return this.permit(call, false);
  }

  private permit(call: CalledFor, isProbe: boolean): Permit {
    const { clock } = this.options;
    const startedAt = clock.now();
    let isOver = false;
    const once = (): boolean => {
      const first = !isOver;
      if (first) this.callsUnderWay -= 1;
      isOver = true;
      return first;
    };
    this.callsUnderWay += 1;
    return {
      isProbe,
      answered: async () => {
        if (once()) await this.answered(call, clock.now() - startedAt, isProbe);
      },
      failed: async () => {
        if (once()) await this.failed(call, isProbe);
      },
      release: () => void once(),
    };
  }

  private async answered(call: CalledFor, ms: number, isProbe: boolean): Promise<void> {
    this.outcomes.answered(call, this.options.clock.now());
    this.retries.answered();
    if (this.phaseNow() === 'half-open') this.limit.raise();
    if (!this.known) this.usualMs = this.usualMs === undefined ? ms : 0.9 * this.usualMs + 0.1 * ms;
    const isWell = ms <= slowFactor * Math.max(usualMinMs, this.usualMs ?? Number.POSITIVE_INFINITY);
    if (isProbe && isWell && this.known?.closedAt === null) await this.close(this.known);
  }

  private async failed(call: CalledFor, isProbe: boolean): Promise<void> {
    const { clock } = this.options;
    this.outcomes.failed(call);
    // A probe wrote the time of the next probe when it began. Calls that were under way when the breaker opened add no information.
    if (isProbe || this.phaseNow() === 'open') return;
    // A single failure is normal, so the guard reads the breaker only after the second one.
    if (this.outcomes.failuresInRow > 1 && this.isOld) await this.look();
    if (this.phaseNow() === 'open' || this.outcomes.isOfOneClient(clock.now())) return;
    // An overloaded service first receives fewer concurrent calls; the breaker opens only if that does not help.
    if (this.phaseNow() === 'half-open' && this.limit.canLower()) {
      if (this.limit.lower()) this.outcomes.forgetFailures();
    } else if (this.outcomes.mayBeOutage) await this.open();
  }

  private async open(): Promise<void> {
    const { clock, random, telemetry } = this.options;
    const breaker = opened(this.agent, this.known ?? this.last, clock.now(), random(), this.outcomes.onlyClient);
    if (!(await this.write(breaker))) return;
    telemetry.count('breakerOpened');
    telemetry.count('serviceAway');
    telemetry.log('warn', 'opened circuit breaker', { agent: this.agent });
  }

  private async close(breaker: Breaker): Promise<void> {
    const { clock, telemetry } = this.options;
    const back = closed(breaker, clock.now());
    if (!(await this.write(back))) return;
    telemetry.count('breakerClosed');
    telemetry.measure('breakerOpenMs', Math.max(0, clock.now() - breaker.openedAt)); // The clocks of two processes differ.
    telemetry.log('info', 'closed circuit breaker', { agent: this.agent });
  }

  /** Whether this process makes the probe: only one of all processes does. */
  private async probes({ client }: CalledFor): Promise<boolean> {
    const { clock, random, telemetry } = this.options;
    if (this.known?.closedAt !== null || !mayProbe(this.known, client, clock.now())) return false;
    const begun = probing(this.known, client, clock.now(), random());
    // The right to probe ends when another process may probe. A process that stood still for so long requeues its request.
    const isProbe = (await this.write(begun)) && clock.now() < begun.probeAt;
    if (isProbe) telemetry.count('serviceAway');
    return isProbe;
  }

  /** Reads the breaker. Concurrent callers share one read. */
  private look(): Promise<void> {
    const moment = this.moment();
    const read = async () => this.take(await this.options.breakers.breaker(this.agent), moment);
    this.looking ??= this.unlessUnavailable(undefined, read).finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private write(breaker: Breaker): Promise<boolean> {
    const moment = this.moment();
    return this.unlessUnavailable(false, async () => {
      const answer = await this.options.breakers.putBreaker(breaker, breaker.rev - 1);
      this.take(answer.outcome === 'written' ? breaker : (answer.current ?? undefined), moment);
      return answer.outcome === 'written';
    });
  }

  /** Returns `otherwise` if the store fails: an outage of the store must not stop calls of a healthy service. */
  private async unlessUnavailable<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isFatal(error)) throw error;
      this.read = this.moment();
      this.options.telemetry.log('warn', 'failed to access circuit breaker', { agent: this.agent, error });
      return otherwise;
    }
  }

  private moment(): Moment {
    return { at: this.options.clock.now(), rests: this.rests };
  }

  private take(breaker: Breaker | undefined, read: Moment): void {
    const { clock } = this.options;
    const before = this.phaseNow();
    this.read = read;
    this.last = breaker;
    this.known = phaseOf(breaker, clock.now()) === 'closed' ? undefined : breaker;
    if (before !== 'half-open' && this.phaseNow() === 'half-open') this.limit.reset();
    if (before === 'open' && this.phaseNow() !== 'open') this.outcomes.forgetFailures();
  }
}
