import { type Activity, distinct, recordedIn } from './activity.ts';
import { type Composite, type CompositeOf, composite } from './composite.ts';
import type { Expr } from './expression.ts';
import type { FaultType } from './fault.ts';

/** One after the other. */
export const sequence = <const A extends readonly Activity<string>[]>(...children: A): CompositeOf<A> =>
  composite({ activity: 'sequence', name: 'sequence', children: distinct(children) });

/** Side by side; goes on when all are done. */
export const parallel = <const A extends readonly Activity<string>[]>(...children: A): CompositeOf<A> =>
  composite({ activity: 'parallel', name: 'parallel', children: distinct(children) });

/** One activity under a name of its own: for fault handlers, and as what `compensate` names. */
export const scope = <F extends string>(name: string, child: Activity<F>): Composite<F> =>
  composite({ activity: 'scope', name, do: recordedIn(child).shape }, { fixed: true });

interface RetryRuns {
  /** How often it is run again: 3 means at most 4 runs. */
  readonly retries: number;
  /** Seconds between two runs. */
  readonly intervalSeconds: number;
  /** Undoes what the failed run completed before the next one begins. */
  readonly undoFirst?: boolean;
}

interface RetryUnless extends RetryRuns {
  /** Faults, with all that extend them, after which it is not run again. */
  readonly except?: readonly FaultType[];
  /** Runs again after permanent faults, too. */
  readonly evenPermanent?: boolean;
  readonly only?: never;
}

interface RetryAfter extends RetryRuns {
  /** The faults, with all that extend them, after which it is run again, permanent or not; after all others it is not. */
  readonly only: readonly FaultType[];
  readonly except?: never;
  readonly evenPermanent?: never;
}

export type RetryOptions = RetryUnless | RetryAfter;

/** Runs an activity again after a fault that may pass, or that `only` names. What it raises last goes on its way. */
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

/** What a `choice` does if no condition holds. */
export interface Otherwise<out F extends string> {
  readonly otherwise: Activity<F>;
}

export const when = <F extends string>(condition: Expr<boolean>, activity: Activity<F>): When<F> => ({ when: condition, do: activity });
export const otherwise = <F extends string>(activity: Activity<F>): Otherwise<F> => ({ otherwise: activity });

type FaultsOfBranch<B> = B extends When<infer F> ? F : B extends Otherwise<infer G> ? G : never;

/** The first branch whose condition holds: choice(when(cel<boolean>`…`, a), when(cel<boolean>`…`, b), otherwise(c)). */
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
