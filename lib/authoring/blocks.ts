import { type Activity, distinct, recordedIn } from './activity.ts';
import { type Composite, type CompositeOf, composite } from './composite.ts';
import type { Expr } from './expression.ts';
import type { FaultType } from './fault.ts';

/** Runs activities one after the other. */
export const sequence = <const A extends readonly Activity<string>[]>(...children: A): CompositeOf<A> =>
  composite({ activity: 'sequence', name: 'sequence', children: distinct(children) });

/** Runs activities side by side. It completes when all of them have. */
export const parallel = <const A extends readonly Activity<string>[]>(...children: A): CompositeOf<A> =>
  composite({ activity: 'parallel', name: 'parallel', children: distinct(children) });

/** Puts one activity under a name, to give it fault handlers or to compensate it by that name. */
export const scope = <F extends string>(name: string, child: Activity<F>): Composite<F> =>
  composite({ activity: 'scope', name, do: recordedIn(child).shape }, { fixed: true });

interface RetryRuns {
  /** The largest number of further runs: 3 means at most 4 runs. */
  readonly retries: number;
  /** Seconds between two runs. */
  readonly intervalSeconds: number;
  /** Undoes what the failed run completed, before the next run begins. */
  readonly undoFirst?: boolean;
}

interface RetryUnless extends RetryRuns {
  /** Faults after which the activity does not run again. Each includes all faults that extend it. */
  readonly except?: readonly FaultType[];
  /** Whether the activity also runs again after permanent faults. */
  readonly evenPermanent?: boolean;
  readonly only?: never;
}

interface RetryAfter extends RetryRuns {
  /** The only faults after which the activity runs again, permanent or not. Each includes all faults that extend it. */
  readonly only: readonly FaultType[];
  readonly except?: never;
  readonly evenPermanent?: never;
}

export type RetryOptions = RetryUnless | RetryAfter;

/** Runs an activity again after a fault that is not permanent. The options include or exclude faults. The last fault leaves the retry. */
export const retry = <F extends string>(child: Activity<F>, { except, only, ...options }: RetryOptions): Composite<F> =>
  composite({
    activity: 'retry',
    name: 'retry',
    ...options,
    ...(except ? { except: except.map(({ path }) => path) } : {}),
    ...(only ? { only: only.map(({ path }) => path) } : {}),
    do: recordedIn(child).shape,
  });

/** A branch of a `choice`. */
export interface When<out F extends string> {
  readonly when: Expr<boolean>;
  readonly do: Activity<F>;
}

/** The branch of a `choice` that runs if no condition holds. */
export interface Otherwise<out F extends string> {
  readonly otherwise: Activity<F>;
}

export const when = <F extends string>(condition: Expr<boolean>, activity: Activity<F>): When<F> => ({ when: condition, do: activity });
export const otherwise = <F extends string>(activity: Activity<F>): Otherwise<F> => ({ otherwise: activity });

type FaultsOfBranch<B> = B extends When<infer F> ? F : B extends Otherwise<infer G> ? G : never;

/** Runs the first branch whose condition holds: choice(when(cel<boolean>`…`, a), when(cel<boolean>`…`, b), otherwise(c)). */
export const choice = <const B extends readonly [...When<string>[], When<string> | Otherwise<string>]>(
  ...branches: B
): Composite<FaultsOfBranch<B[number]>> => {
  const bodies = distinct(branches.map((branch) => ('when' in branch ? branch.do : branch.otherwise)));
  const recorded = branches.map((branch, index) =>
    'when' in branch ? { when: branch.when, do: bodies[index] } : { otherwise: bodies[index] },
  );
  return composite({
    activity: 'choice',
    name: 'choice',
    branches: recorded.filter((branch) => 'when' in branch),
    ...recorded.find((branch) => 'otherwise' in branch),
  });
};
