import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentObservation, ClockJumps } from '#testing/world/agent-event';
import { eachProcess, type Law, on, recordsIntents, type Setting } from './law.ts';

/** The most calls that a process may repeat without an answer. Each answer adds a tenth of a call, and every ten seconds add one. */
const most = 10;
const perAnswer = 0.1;
const everyMs = 10_000;
/** Rounding error of sums of tenths. */
const roundingError = 0.000_001;

/** Number of calls that a process may repeat. */
class Budget {
  private left = most;
  private at = Number.NEGATIVE_INFINITY;

  answered(): void {
    this.left = Math.min(most, this.left + perAnswer);
  }

  /** Adds the share of the time that passed, and returns what is left. */
  upTo(now: number): number {
    this.left = Math.min(most, this.left + Math.max(0, now - this.at) / everyMs);
    this.at = now;
    return this.left;
  }

  spend(): void {
    this.left = Math.max(0, this.left - 1);
  }

  /** Subtracts one call from the lower bound, because it is not visible whether a call was repeated. */
  perhapsSpend(now: number): void {
    const { left, at } = this;
    this.left = Math.max(0, Math.min(left, this.upTo(now) - 1));
    this.at = Math.max(at, now);
  }
}

/** The budget of one process for one agent: an upper and a lower bound, because not every change is visible. */
class Process {
  private known: Breaker | undefined;
  private readonly most = new Budget();
  private readonly least = new Budget();
  private jumps = 0;
  /** Whether the clock has jumped since the last read. The copy of the breaker may then have expired, or count as fresh again. */
  private mayHaveForgotten = false;
  /** World time at which the process last had a reason to requeue other than its budget. */
  private otherReasonAt: number | undefined;
  private readonly setting: Pick<Setting, 'agents'>;

  constructor(setting: Pick<Setting, 'agents'>) {
    this.setting = setting;
  }

  observe({ now, agent, event }: AgentObservation, at: number, requeued: ReadonlySet<string>): string | undefined {
    const { most, least, mayHaveForgotten } = this;
    const isClosed = phaseOf(this.known, now) === 'closed';
    switch (event.what) {
      case 'store failed':
        if (event.isWritten === false) this.otherReasonAt = at;
        return undefined;
      case 'store answered':
        if (event.isWritten === false || !isClosed || mayHaveForgotten) this.otherReasonAt = at;
        this.known = event.breaker;
        this.mayHaveForgotten = false;
        return undefined;
      case 'call ended':
        if (event.how !== 'answered') return undefined;
        most.answered();
        return void least.answered();
      case 'requeues':
        // A process that lost the right to probe requeues as well, even if the service is back by then.
        if (
          mayHaveForgotten ||
          !isClosed ||
          this.otherReasonAt === at ||
          recordsIntents(agent, this.setting) ||
          least.upTo(now) < 1 + roundingError
        )
          return undefined;
        return `requeues request ${event.requestId} although it may still repeat ${Math.floor(least.upTo(now))} calls`;
      case 'calls':
        if (!(isClosed || mayHaveForgotten) || (event.tries === 1 && !requeued.has(event.requestId))) return undefined;
        // A requeued request and a second delivery of the same request look alike.
        return event.tries === 1 || mayHaveForgotten ? void least.perhapsSpend(now) : this.repeats(event.requestId, now);
      default:
        return undefined;
    }
  }

  private repeats(requestId: string, now: number): string | undefined {
    const { most, least } = this;
    const left = most.upTo(now);
    least.upTo(now);
    least.spend();
    most.spend();
    return left < 1 - roundingError
      ? `repeats the call for request ${requestId} with a retry budget of only ${left.toFixed(2)}`
      : undefined;
  }

  /** Notes jumps of the clock. Whether the process counts the time before or after a jump is not visible: the upper bound counts both. */
  clockJumped(jumps: readonly ClockJumps[]): void {
    for (const { from, to } of jumps.slice(this.jumps)) {
      this.most.upTo(from);
      this.most.upTo(to);
      this.mayHaveForgotten = this.known !== undefined;
    }
    this.jumps = jumps.length;
  }
}

/**
 * A process repeats at most ten calls without an answer, plus one for every ten answers and one every ten seconds. It requeues no
 * repetition before this budget is spent.
 */
export function retryBudgets(setting: Pick<Setting, 'now' | 'agents'>): Law {
  const of = eachProcess(() => new Process(setting));
  const jumps = new Map<string, ClockJumps[]>();
  const requeued = new Set<string>();
  return {
    name: 'retry budgets',
    after: on(['agent event', 'clock jumps'], (observation) => {
      const { host } = observation;
      const jumped = jumps.get(host) ?? [];
      if (observation.type === 'clock jumps') return void jumps.set(host, [...jumped, observation]);
      const process = of(observation);
      process.clockJumped(jumped);
      const wrong = process.observe(observation, setting.now(), requeued);
      if (observation.event.what === 'requeues') requeued.add(observation.event.requestId);
      return wrong === undefined ? undefined : `host ${host} ${wrong} (agent ${observation.agent})`;
    }),
  };
}
