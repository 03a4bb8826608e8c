import { type Fault, isKindOf } from '#core/data/fault';
import { type Activity, type ActivityBase, secondsProblem } from '#core/definition/definition';
import { type Behavior, close, type Next, run, undoNext, wait } from '#core/engine/behavior';

export interface Retry extends ActivityBase {
  readonly activity: 'retry';
  readonly do: Activity;
  /** The number of further runs: N means at most N + 1 runs (WF: RetryCount). */
  readonly retries: number;
  /** The seconds between two runs (WF: RetryInterval). */
  readonly intervalSeconds: number;
  /** Faults of these types, or of types that extend them, end the retry. */
  readonly except?: readonly string[];
  /**
   * Only faults of these types, or of types that extend them, lead to another run, whether they are permanent or not. Cannot be combined
   * with `except`.
   */
  readonly only?: readonly string[];
  /** Whether permanent faults lead to another run, too. */
  readonly evenPermanent?: boolean;
  /** Whether the completed work of the failed run is undone before the next run. */
  readonly undoFirst?: boolean;
}

/** The state of a retry. `attempt`: the number of the present or the last run, from 1. */
export type RetryState =
  | { readonly phase: 'trying'; readonly attempt: number }
  | { readonly phase: 'undoing'; readonly attempt: number; readonly scope: string }
  | { readonly phase: 'backingOff'; readonly attempt: number; readonly until: number };

/** Runs its activity again after a fault, until it succeeds or `retries` further runs have failed (WF). */
export const retry: Behavior<Retry, RetryState> = {
  children: (retry) => [retry.do],
  problems: ({ retries, intervalSeconds, ...filters }) => [
    ...(Number.isSafeInteger(retries) && retries >= 0 ? [] : [`retries is ${retries}; it must be an integer of at least 0.`]),
    ...[secondsProblem('intervalSeconds', intervalSeconds, 'from 0 up') ?? []].flat(),
    ...onlyProblems(filters),
  ],
  templates: () => [],
  execute: (retry) => tryOnce(retry, 1),

  retries: (retry, { phase, attempt }, fault) => phase === 'trying' && attempt <= retry.retries && isRetried(retry, fault),
  isUsedUp: (retry, { phase, attempt }, fault) => phase === 'trying' && attempt > retry.retries && isRetried(retry, fault),
  childFaulted: (retry, { attempt }, _, { at, path }) =>
    retry.undoFirst ? undoNext<RetryState>({ phase: 'undoing', attempt, scope: path }) : tryLater(retry, attempt, at),

  childClosed(_, state, closing) {
    if (state.phase === 'undoing') return undoNext(state);
    return close(closing);
  },
  undone: (retry, { attempt }, { at }) => tryLater(retry, attempt, at),

  // Timers are delivered at least once. A repeated timer finds the next run already started and is ignored.
  woken: (retry, state, { at }) => (state.phase === 'backingOff' && at >= state.until ? tryOnce(retry, state.attempt + 1) : undefined),
  wakeAt: (state) => (state.phase === 'backingOff' ? state.until : undefined),
  postponed: (state, byMs) => (state.phase === 'backingOff' ? { ...state, until: state.until + byMs } : state),
};

const tryOnce = (retry: Retry, attempt: number) => ({
  ...run<RetryState>([retry.do.name], { phase: 'trying', attempt }),
  resetsVariables: true,
});

const tryLater = (retry: Retry, attempt: number, at: number): Next<RetryState> =>
  retry.intervalSeconds > 0
    ? wait({ phase: 'backingOff', attempt, until: at + retry.intervalSeconds * 1000 })
    : tryOnce(retry, attempt + 1);

function onlyProblems({ only, except, evenPermanent }: Partial<Retry>): readonly string[] {
  if (only === undefined) return [];
  if (!Array.isArray(only) || only.length === 0)
    return ['"only" names no fault, so the retry would never run again. Name a fault in "only", or leave "only" out.'];
  return [
    ...(except === undefined ? [] : ['It has both "only" and "except". Name every fault in "only", and leave "except" out.']),
    ...(evenPermanent ? ['It has both "only" and "evenPermanent". "only" includes permanent faults: leave "evenPermanent" out.'] : []),
  ];
}

function isRetried({ except = [], only, evenPermanent = false }: Retry, fault: Fault): boolean {
  const isAmong = (types: readonly string[]): boolean => types.some((type) => isKindOf(fault.type, type));
  return only ? isAmong(only) : (evenPermanent || !fault.permanent) && !isAmong(except);
}
