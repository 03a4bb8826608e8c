import { type Breaker, type Breakers, closed, opened, phaseOf, probing, restedMs } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';

/** Permission for one call of the service. The caller reports the result through exactly one of its methods. */
export interface Permit {
  /** The service answered, with a success or a permanent failure. */
  answered(): Promise<void>;
  /** The service did not answer, or is temporarily unavailable. */
  failed(orderId: string): Promise<void>;
  /** The agent gave up the call, so the result says nothing about the service. */
  release(): void;
}

export interface GuardOptions {
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

/** Failures in a row that open the breaker. They must come from more than one order: a single bad order must not stop the others. */
const failuresInRow = 5;
/** A breaker that was read longer ago than this is read again, because another instance may have changed it. */
const freshMs = 2_000;
/** Retry budget: the most retries at once. Each answer adds a tenth of a retry, and every ten seconds add one. */
const budgetMax = 10;
const perAnswer = 0.1;
const perMs = 1 / 10_000;
const loweredForMs = 1_000;
/** A probe that takes this many times the usual duration shows that the service has not recovered yet. */
const slowFactor = 3;
const usualMinMs = 1_000;

/**
 * The circuit breaker of one agent in one process. It limits calls of the remote service and shares outages with other
 * processes through the store. While the service is healthy, it makes no extra calls of the store.
 */
export class CircuitGuard {
  private readonly agent: string;
  private readonly options: GuardOptions;
  /** The breaker unless it is closed; undefined while this process knows of no outage. */
  private known: Breaker | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private calledAt = Number.NEGATIVE_INFINITY;
  private looking: Promise<void> | undefined;
  private readonly failures: string[] = [];
  /** Moving average of the duration of an answered call. */
  private usualMs: number | undefined;
  private atWork = 0;
  /** Concurrency limit while half-open. It doubles with each round of answers until the first overload, then grows by one. */
  private level = 1;
  private hasBeenTooMany = false;
  private loweredAt = Number.NEGATIVE_INFINITY;
  private budget = budgetMax;
  private budgetAt: number;

  constructor(agent: string, options: GuardOptions) {
    this.agent = agent;
    this.options = options;
    this.budgetAt = options.clock.now();
  }

  /** Whether this process knows of no outage and has called recently, so that it need not read the breaker. */
  get isClosed(): boolean {
    return this.known === undefined && !this.hasRested;
  }

  private get hasRested(): boolean {
    return this.options.clock.now() - Math.max(this.calledAt, this.readAt) >= restedMs;
  }

  /** Returns a permit for a healthy service. */
  enter(): Permit {
    return this.permit(false);
  }

  /** Whether no instance may call the service now. */
  async isShut(): Promise<boolean> {
    const { clock } = this.options;
    if (this.hasRested || (this.known && clock.now() - this.readAt >= freshMs)) await this.look();
    return phaseOf(this.known, clock.now()) === 'open' && clock.now() < (this.known?.probeAt ?? 0);
  }

  /** Returns a permit, or undefined if the service may not be called now. A retry uses up budget. */
  async acquirePermit({ repeated }: { readonly repeated: boolean }): Promise<Permit | undefined> {
    const { clock } = this.options;
    if (await this.isShut()) return undefined;
    const phase = phaseOf(this.known, clock.now());
    if (phase === 'open') return (await this.probes()) ? this.permit(true) : undefined;
    if (phase === 'half-open' && this.atWork >= this.level) return undefined;
    if (phase === 'closed') this.forget();
    if (repeated && phase === 'closed' && !this.spend()) return undefined;
    return this.permit(false);
  }

  private permit(isProbe: boolean): Permit {
    const { clock } = this.options;
    const startedAt = clock.now();
    this.calledAt = startedAt;
    let isOver = false;
    const once = (): boolean => {
      const first = !isOver;
      if (first) this.atWork -= 1;
      this.calledAt = clock.now();
      isOver = true;
      return first;
    };
    this.atWork += 1;
    return {
      answered: async () => {
        if (once()) await this.answered(clock.now() - startedAt, isProbe);
      },
      failed: async (orderId) => {
        if (once()) await this.failed(orderId, isProbe);
      },
      release: () => void once(),
    };
  }

  private async answered(ms: number, isProbe: boolean): Promise<void> {
    this.failures.length = 0;
    this.budget = Math.min(budgetMax, this.budget + perAnswer);
    if (phaseOf(this.known, this.options.clock.now()) === 'half-open') this.level += this.hasBeenTooMany ? 1 / this.level : 1;
    if (!this.known) this.usualMs = this.usualMs === undefined ? ms : 0.9 * this.usualMs + 0.1 * ms;
    const isWell = ms <= slowFactor * Math.max(usualMinMs, this.usualMs ?? Number.POSITIVE_INFINITY);
    if (isProbe && isWell && this.known?.closedAt === null) await this.close(this.known);
  }

  private async failed(orderId: string, isProbe: boolean): Promise<void> {
    this.failures.push(orderId);
    this.failures.splice(0, this.failures.length - failuresInRow);
    // A probe wrote the time of the next probe when it began. Calls that were under way when the breaker opened add no information.
    if (isProbe || phaseOf(this.known, this.options.clock.now()) === 'open') return;
    // A single failure is normal, so the guard reads the breaker only after the second one.
    if (this.failures.length > 1 && this.options.clock.now() - this.readAt >= freshMs) await this.look();
    if (phaseOf(this.known, this.options.clock.now()) === 'open') return;
    const isMany = this.failures.length >= failuresInRow && new Set(this.failures).size > 1;
    // An overloaded service first receives fewer concurrent calls; the breaker opens only if that does not help.
    if (phaseOf(this.known, this.options.clock.now()) === 'half-open' && this.level > 1) this.lower();
    else if (isMany) await this.open();
  }

  /** Halves the concurrency limit, once for all calls that fail together. */
  private lower(): void {
    const now = this.options.clock.now();
    if (now - this.loweredAt < loweredForMs) return;
    this.loweredAt = now;
    this.hasBeenTooMany = true;
    this.level = Math.max(1, Math.floor(this.level / 2));
    this.failures.length = 0;
  }

  private async open(): Promise<void> {
    const { clock, random, telemetry } = this.options;
    const breaker = opened(this.agent, this.known ?? this.last, clock.now(), random());
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
    telemetry.measure('breakerOpenMs', clock.now() - breaker.openedAt);
    telemetry.log('info', 'closed circuit breaker', { agent: this.agent });
  }

  /** Whether this instance makes the probe: only one of all instances does. */
  private async probes(): Promise<boolean> {
    const { clock, random, telemetry } = this.options;
    if (this.known?.closedAt !== null || clock.now() < this.known.probeAt) return false;
    const mayProbe = await this.write(probing(this.known, clock.now(), random()));
    if (mayProbe) telemetry.count('serviceAway');
    return mayProbe;
  }

  /** The record as last read, even if it is closed. Its `rev` fences the next write. */
  private last: Breaker | undefined;

  /** Reads the breaker. Concurrent callers share one read. */
  private look(): Promise<void> {
    this.looking ??= this.unlessUnavailable(undefined, async () => this.take(await this.options.breakers.breaker(this.agent))).finally(
      () => {
        this.looking = undefined;
      },
    );
    return this.looking;
  }

  private write(breaker: Breaker): Promise<boolean> {
    return this.unlessUnavailable(false, async () => {
      const answer = await this.options.breakers.putBreaker(breaker, breaker.rev - 1);
      this.take(answer.outcome === 'written' ? breaker : (answer.current ?? undefined));
      return answer.outcome === 'written';
    });
  }

  /** Returns `otherwise` if the store fails: an outage of the store must not stop calls of a healthy service. */
  private async unlessUnavailable<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isFatal(error)) throw error;
      this.readAt = this.options.clock.now();
      this.options.telemetry.log('warn', 'failed to access circuit breaker', { agent: this.agent, error });
      return otherwise;
    }
  }

  private take(breaker: Breaker | undefined): void {
    const { clock } = this.options;
    const before = phaseOf(this.known, clock.now());
    this.readAt = clock.now();
    this.last = breaker;
    this.known = phaseOf(breaker, clock.now()) === 'closed' ? undefined : breaker;
    if (before !== 'half-open' && phaseOf(this.known, clock.now()) === 'half-open') {
      this.level = 1;
      this.hasBeenTooMany = false;
    }
    if (before === 'open' && phaseOf(this.known, clock.now()) !== 'open') this.failures.length = 0;
  }

  private forget(): void {
    this.known = undefined;
  }

  private spend(): boolean {
    const now = this.options.clock.now();
    // A clock that is set back does not reduce the budget.
    this.budget = Math.min(budgetMax, this.budget + Math.max(0, now - this.budgetAt) * perMs);
    this.budgetAt = now;
    if (this.budget < 1) return false;
    this.budget -= 1;
    return true;
  }
}
