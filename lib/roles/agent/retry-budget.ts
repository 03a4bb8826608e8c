import type { Clock } from '#ports/clock';

/** Limit of the retries of one process, which is a share of the answers, so that retries do not multiply the load of a failing service. */
export interface RetryBudget {
  /** Adds a share of a retry. */
  answered(): void;
  /** Takes one retry from the budget; returns false if there is none. */
  spend(): boolean;
}

/** The budget has room for this many retries. Each answer adds a tenth of a retry, and every ten seconds add one. */
const budgetMax = 10;
const perAnswer = 0.1;
const perMs = 1 / 10_000;

export function createRetryBudget(clock: Pick<Clock, 'now'>): RetryBudget {
  let budget = budgetMax;
  let updatedAt = clock.now();
  return {
    answered() {
      budget = Math.min(budgetMax, budget + perAnswer);
    },
    spend() {
      const now = clock.now();
      // A clock that is set back does not reduce the budget.
      budget = Math.min(budgetMax, budget + Math.max(0, now - updatedAt) * perMs);
      updatedAt = now;
      if (budget < 1) return false;
      budget -= 1;
      return true;
    },
  };
}
