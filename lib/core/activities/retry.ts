import { type Behaviour, close, type Next, run, wait } from '../behaviour.ts';
import { type Activity, type ActivityBase, secondsProblem } from '../definition.ts';
import { type Fault, isKindOf } from '../fault.ts';

export interface Retry extends ActivityBase {
  readonly activity: 'retry';
  readonly do: Activity;
  /** How often it is run again: N means at most N + 1 runs (WF: RetryCount). */
  readonly count: number;
  /** Seconds between two runs (WF: RetryInterval). */
  readonly interval: number;
  /** Faults, with all that extend them, after which it is not run again. */
  readonly except?: readonly string[];
  /** Runs again after permanent faults, too. */
  readonly evenPermanent?: boolean;
  /** Undoes what the failed run completed before the next one begins. */
  readonly undoFirst?: boolean;
}

export type RetryState =
  | { readonly phase: 'trying'; readonly attempt: number }
  | { readonly phase: 'undoing'; readonly attempt: number; readonly scope: string }
  | { readonly phase: 'backingOff'; readonly attempt: number; readonly until: number };

/** Runs its activity again after a fault, until it succeeds or has been run `count` times more (WF). */
export const retry: Behaviour<Retry, RetryState> = {
  children: (retry) => [retry.do],
  problems: ({ count, interval }) => [
    ...(Number.isSafeInteger(count) && count >= 0 ? [] : [`count is ${count}; it is a whole number from 0 up.`]),
    ...[secondsProblem('interval', interval, 'from 0 up') ?? []].flat(),
  ],
  templates: () => [],
  execute: (retry) => tryOnce(retry, 1),

  absorbs: (retry, { phase, attempt }, fault) => phase === 'trying' && attempt <= retry.count && isRetried(retry, fault),
  isUsedUp: (retry, { phase, attempt }, fault) => phase === 'trying' && attempt > retry.count && isRetried(retry, fault),
  childFaulted: (retry, { attempt }, _, { at, path }) =>
    retry.undoFirst ? { state: { phase: 'undoing', attempt, scope: path }, undoNext: true } : tryLater(retry, attempt, at),

  childClosed(_, state, closing) {
    if (state.phase === 'undoing') return { state, undoNext: true };
    return close(closing);
  },
  undone: (retry, { attempt }, { at }) => tryLater(retry, attempt, at),

  // Timers come at least once: one that finds the next run already under way has been answered.
  woken: (retry, state, { at }) => (state.phase === 'backingOff' && at >= state.until ? tryOnce(retry, state.attempt + 1) : undefined),
  wakeAt: (state) => (state.phase === 'backingOff' ? state.until : undefined),
  postponed: (state, byMs) => (state.phase === 'backingOff' ? { ...state, until: state.until + byMs } : state),
};

const tryOnce = (retry: Retry, attempt: number) => ({ ...run<RetryState>([retry.do.name], { phase: 'trying', attempt }), fresh: true });

const tryLater = (retry: Retry, attempt: number, at: number): Next<RetryState> =>
  retry.interval > 0 ? wait({ phase: 'backingOff', attempt, until: at + retry.interval * 1000 }) : tryOnce(retry, attempt + 1);

const isRetried = ({ except = [], evenPermanent = false }: Retry, fault: Fault): boolean =>
  (evenPermanent || !fault.permanent) && !except.some((type) => isKindOf(fault.type, type));
