import { type Breaker, type Breakers, closed, opened, phaseOf, probing, restedMs } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Telemetry } from '#ports/telemetry';

/** Leave to call the service: to be given back, with what came of it. */
export interface Permit {
  /** The service answered, whatever it said. */
  answered(): Promise<void>;
  /** It did not, or said that it cannot now. */
  failed(orderId: string): Promise<void>;
  /** Nobody knows: the call was given up from here. */
  release(): void;
}

export interface GuardOptions {
  readonly breakers: Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

/** Failures in a row, of more than one order: one that no service could answer must not stop the others. */
const failuresInRow = 5;
/** What another instance has found out is read again after so long. */
const freshMs = 2_000;
/** Repetitions that may be made at once; each answer adds a tenth of one, each ten seconds a whole one. */
const budgetMax = 10;
const perAnswer = 0.1;
const perMs = 1 / 10_000;
const loweredForMs = 1_000;
/** A probe that takes so many times as long as usual finds a service that is not well yet. */
const slowFactor = 3;
const usualMinMs = 1_000;

/**
 * Stands between an agent and its remote service, one in each process. What it knows of trouble it shares with the others
 * through the store; without trouble it asks nobody, so that it costs nothing in good weather.
 */
export class CircuitGuard {
  private readonly agent: string;
  private readonly options: GuardOptions;
  /** Undefined while nothing is wrong as far as this process knows. */
  private known: Breaker | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private calledAt = Number.NEGATIVE_INFINITY;
  private looking: Promise<void> | undefined;
  private readonly failures: string[] = [];
  /** How long an answer usually takes. */
  private usualMs: number | undefined;
  private atWork = 0;
  /** So many at once, while it is half-open: twice as many with each round, until it was too many; then one more a round. */
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

  /** Nothing is wrong as far as this process knows, and it has called just now: nobody needs to be asked. */
  get isClosed(): boolean {
    return this.known === undefined && !this.hasRested;
  }

  private get hasRested(): boolean {
    return this.options.clock.now() - Math.max(this.calledAt, this.readAt) >= restedMs;
  }

  /** Leave to call a service of which nothing bad is known. */
  enter(): Permit {
    return this.permit(false);
  }

  /** Whether there is no point in even beginning: nobody may call now. */
  async isShut(): Promise<boolean> {
    const { clock } = this.options;
    if (this.hasRested || (this.known && clock.now() - this.readAt >= freshMs)) await this.look();
    return phaseOf(this.known, clock.now()) === 'open' && clock.now() < (this.known?.probeAt ?? 0);
  }

  /** Leave to call the service, or undefined: not now. A repetition takes from the budget. */
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
    // The probe has said so when it began; what was under way when it opened says nothing new.
    if (isProbe || phaseOf(this.known, this.options.clock.now()) === 'open') return;
    // What fails once happens, and is nobody else's affair.
    if (this.failures.length > 1 && this.options.clock.now() - this.readAt >= freshMs) await this.look();
    if (phaseOf(this.known, this.options.clock.now()) === 'open') return;
    const isMany = this.failures.length >= failuresInRow && new Set(this.failures).size > 1;
    // What is only too much for it at once is asked for less at once, before nobody asks any more.
    if (phaseOf(this.known, this.options.clock.now()) === 'half-open' && this.level > 1) this.lower();
    else if (isMany) await this.open();
  }

  /** Once for all that fail together. */
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
    telemetry.log('warn', 'the service is away: what needs it waits', { agent: this.agent });
  }

  private async close(breaker: Breaker): Promise<void> {
    const { clock, telemetry } = this.options;
    const back = closed(breaker, clock.now());
    if (!(await this.write(back))) return;
    telemetry.count('breakerClosed');
    telemetry.measure('breakerOpenMs', clock.now() - breaker.openedAt);
    telemetry.log('info', 'the service is back: what waited is let go', { agent: this.agent });
  }

  /** Of all instances one probes. */
  private async probes(): Promise<boolean> {
    const { clock, random, telemetry } = this.options;
    if (this.known?.closedAt !== null || clock.now() < this.known.probeAt) return false;
    const mayProbe = await this.write(probing(this.known, clock.now(), random()));
    if (mayProbe) telemetry.count('serviceAway');
    return mayProbe;
  }

  /** What was read last, also where it means nothing any more: its rev is the fence of the next write. */
  private last: Breaker | undefined;

  /** Who asks while somebody is reading hears the same. */
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

  /** A store that is not to be had must not keep the agent from a service that is well. */
  private async unlessUnavailable<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      this.readAt = this.options.clock.now();
      this.options.telemetry.log('warn', 'breaker not to be had', { agent: this.agent, error });
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
    // A clock that is put back takes nothing away.
    this.budget = Math.min(budgetMax, this.budget + Math.max(0, now - this.budgetAt) * perMs);
    this.budgetAt = now;
    if (this.budget < 1) return false;
    this.budget -= 1;
    return true;
  }
}
