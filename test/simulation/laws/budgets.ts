import { type Breaker, phaseOf } from '../../../lib/breaker.ts';
import type { GuardedBy } from '../guarded.ts';
import { eachProcess, type Law, on, type Times } from './law.ts';

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
  private at: number;

  constructor(now: number) {
    this.at = now;
  }

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
    this.left -= 1;
  }

  /** One may have been spent now, or not: what is left at the least. */
  perhapsSpend(now: number): void {
    const { left } = this;
    this.left = Math.min(left, this.upTo(now) - 1);
  }
}

/** Of one process and one agent: as much as there may be left, and as little. */
class Process {
  private told: Breaker | undefined;
  private most: Budget | undefined;
  private least: Budget | undefined;

  takes({ now, agent, event }: GuardedBy, putBack: ReadonlySet<string>): string | undefined {
    this.most ??= new Budget(now);
    this.least ??= new Budget(now);
    const { most, least } = this;
    const isClosed = phaseOf(this.told, now) === 'closed';
    if (event.what === 'is told') this.told = event.breaker;
    if (event.what === 'hears' && event.how === 'answered') {
      most.answered();
      least.answered();
    }
    if (event.what === 'puts back' && isClosed && agent !== noting && least.upTo(now) >= 1 + slip)
      return `puts ${event.requestId} back, and might repeat ${Math.floor(least.upTo(now))} calls`;
    if (event.what !== 'asks' || !isClosed) return undefined;
    // Whether this is what was put back, or the same that was delivered twice, is not seen.
    const isRepeated = event.tries > 1;
    if (!isRepeated && !putBack.has(event.requestId)) return undefined;
    const left = most.upTo(now);
    if (!isRepeated) return void least.perhapsSpend(now);
    least.upTo(now);
    least.spend();
    most.spend();
    return left < 1 - slip ? `asks again for ${event.requestId}, and may repeat ${left.toFixed(2)} calls` : undefined;
  }
}

/** F45: a process repeats ten calls at once, one more for ten answers, and one more every ten seconds; and puts nothing back before. */
export function budgets(times: Pick<Times, 'now'>): Law {
  const of = eachProcess(() => new Process(), times);
  const putBack = new Set<string>();
  return {
    name: 'budgets',
    after: on(['guarded'], (happening) => {
      const wrong = of(happening)?.takes(happening, putBack);
      if (happening.event.what === 'puts back') putBack.add(happening.event.requestId);
      return wrong === undefined ? undefined : `${happening.host} ${wrong} (${happening.agent})`;
    }),
  };
}
