import { type Breaker, phaseOf } from '#ports/circuit-breaker';
import type { AgentObservation, ClockJumps } from '#testing/world/agent-event';
import { eachProcess, type Law, on, type Setting } from './law.ts';

const most = 10;
const perAnswer = 0.1;
const everyMs = 10_000;
/** What sums of tenths are apart from what they should be. */
const slip = 0.000_001;
/** It is put back only when what was noted of it is gone: by then there may be more. */
const noting = 'ledger';

/** What a process may repeat. */
class Budget {
  private left = most;
  private at = Number.NEGATIVE_INFINITY;

  answered(): void {
    this.left = Math.min(most, this.left + perAnswer);
  }

  /** What is there to spend now. */
  upTo(now: number): number {
    this.left = Math.min(most, this.left + Math.max(0, now - this.at) / everyMs);
    this.at = now;
    return this.left;
  }

  spend(): void {
    this.left = Math.max(0, this.left - 1);
  }

  /** One may have been spent now, or not: what is left at the least. */
  perhapsSpend(now: number): void {
    const { left, at } = this;
    this.left = Math.max(0, Math.min(left, this.upTo(now) - 1));
    this.at = Math.max(at, now);
  }
}

/** Of one process and one agent: as much as there may be left, and as little. */
class Process {
  private told: Breaker | undefined;
  private readonly most = new Budget();
  private readonly least = new Budget();
  private jumps = 0;
  /** Its clock has jumped: it may have forgotten what it was told, and by that clock it would mean something again. */
  private mayHaveForgotten = false;
  /** When it last had another reason to put something back than its budget, even if it knows better by now: by the world's clock. */
  private notNowAt: number | undefined;

  takes({ now, agent, event }: AgentObservation, at: number, putBack: ReadonlySet<string>): string | undefined {
    const { most, least, mayHaveForgotten } = this;
    const isClosed = phaseOf(this.told, now) === 'closed';
    switch (event.what) {
      case 'store failed':
        if (event.isWritten === false) this.notNowAt = at;
        return undefined;
      case 'store answered':
        if (event.isWritten === false || !isClosed || mayHaveForgotten) this.notNowAt = at;
        this.told = event.breaker;
        this.mayHaveForgotten = false;
        return undefined;
      case 'call ended':
        if (event.how !== 'answered') return undefined;
        most.answered();
        return void least.answered();
      case 'requeues':
        // Who was to go and see, and hears that another has, puts it back as well, also where the service is found to be back.
        if (mayHaveForgotten || !isClosed || this.notNowAt === at || agent === noting || least.upTo(now) < 1 + slip) return undefined;
        return `puts ${event.requestId} back, and might repeat ${Math.floor(least.upTo(now))} calls`;
      case 'calls':
        if (!(isClosed || mayHaveForgotten) || (event.tries === 1 && !putBack.has(event.requestId))) return undefined;
        // Whether this is what was put back, or the same that was delivered twice, is not seen.
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
    return left < 1 - slip ? `asks again for ${requestId}, and may repeat ${left.toFixed(2)} calls` : undefined;
  }

  /** Its clock has jumped. When it counts what time has given is not always seen: for the most, just before, and again just after. */
  jumpedBy(jumps: readonly ClockJumps[]): void {
    for (const { from, to } of jumps.slice(this.jumps)) {
      this.most.upTo(from);
      this.most.upTo(to);
      this.mayHaveForgotten = this.told !== undefined;
    }
    this.jumps = jumps.length;
  }
}

/** a process repeats ten calls at once, one more for ten answers, and one more every ten seconds; and puts nothing back before. */
export function budgets({ now }: Pick<Setting, 'now'>): Law {
  const of = eachProcess(() => new Process());
  const jumps = new Map<string, ClockJumps[]>();
  const putBack = new Set<string>();
  return {
    name: 'budgets',
    after: on(['agent event', 'clock jumps'], (observation) => {
      const { host } = observation;
      const jumped = jumps.get(host) ?? [];
      if (observation.type === 'clock jumps') return void jumps.set(host, [...jumped, observation]);
      const process = of(observation);
      process.jumpedBy(jumped);
      const wrong = process.takes(observation, now(), putBack);
      if (observation.event.what === 'requeues') putBack.add(observation.event.requestId);
      return wrong === undefined ? undefined : `${host} ${wrong} (${observation.agent})`;
    }),
  };
}
