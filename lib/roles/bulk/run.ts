import type { JsonObject } from '#core/data/json';
import { isJudged } from '#core/exceptions/verdict';
import type { UsedSolution } from '#core/solutions/solution';
import type { Outcome, ProcessState } from '#ports/records';

export const bulkStates = ['preparing', 'ready', 'running', 'paused', 'stopped', 'done'] as const;
export type BulkState = (typeof bulkStates)[number];

/** The orders that a bulk run is for: those that match every given field. */
export interface BulkFilter {
  readonly state?: 'Pending' | 'Processing' | 'Processed' | 'Error';
  readonly workflow?: string;
  /** The fingerprint of the open exception. */
  readonly fingerprint?: string;
  /** Short fault type: `CardDeclined`. */
  readonly fault?: string;
  /** Milliseconds since 1970; an order of exactly this time does not match. */
  readonly submittedAfter?: number;
  readonly submittedBefore?: number;
  readonly ids?: readonly string[];
}

/** The instruction of a bulk run without its author and reason. Its values may be expressions over each order. */
export type BulkInstruction = JsonObject & { readonly kind: string };

/** The filter and the instruction that an operator has given. They never change. */
export interface BulkAsked {
  readonly filter: BulkFilter;
  readonly instruction: BulkInstruction;
  /** The solution that gives the instruction. Each order counts as a use of it. */
  readonly solution?: UsedSolution;
}

/**
 * The outcome of an order of the set. `infeasible`: the check of the run refused it. `refused`: the instruction was refused. `moved-on`:
 * the order was no longer stopped for the same reason. `failed`: all tries failed. An order without an outcome is `left`.
 */
export const outcomes = ['applied', 'refused', 'moved-on', 'failed', 'infeasible'] as const;
export type ItemOutcome = (typeof outcomes)[number];
export type OutcomeCounts = { readonly [outcome in ItemOutcome]: number };
export const noOutcomes: OutcomeCounts = { applied: 0, refused: 0, 'moved-on': 0, failed: 0, infeasible: 0 };

/** Whether the instruction has helped an order: see `verify.ts`. */
export type Verdict = 'running' | 'passed' | 'failed-again' | 'failed-otherwise';
export type Verdicts = { readonly [verdict in Exclude<Verdict, 'running'>]: number };
export const noVerdicts: Verdicts = { passed: 0, 'failed-again': 0, 'failed-otherwise': 0 };

/** The reason for which a run is paused. A run that has paused because of a breaker or a backlog resumes itself. */
export type PauseCause =
  | { readonly by: 'person' | 'canary' }
  | { readonly by: 'breaker'; readonly agent: string }
  | { readonly by: 'backlog'; readonly queue: string };

/** One act of a person on a run. */
export interface BulkChange {
  readonly at: number;
  readonly by: string;
  readonly action: 'create' | 'start' | 'pause' | 'resume' | 'stop';
  readonly reason: string;
}

/** The frozen set. The names of its chunks contain the epoch of the process that froze it, so that a slower process cannot change them. */
export interface FrozenSet {
  readonly epoch: number;
  readonly count: number;
  readonly chunks: number;
  readonly at: number;
}

/** The record of a bulk run. All times: milliseconds since 1970. */
export interface BulkRun {
  readonly id: string;
  readonly state: BulkState;
  readonly by: string;
  readonly reason: string;
  readonly createdAt: number;
  /** The kind of the instruction. */
  readonly kind: string;
  readonly ratePerSecond: number;
  /** The number of applied orders after which the run pauses; null if it has no canary. */
  readonly canary: number | null;
  /** The number of failed orders at which the run stops; null if it does not stop for failures. */
  readonly stopAfterFailures: number | null;
  /** Whether it starts as soon as it is prepared. */
  readonly starts: boolean;
  /** The id of the earlier run whose untouched orders this one takes. */
  readonly continues?: string;
  /** The hash of the API call that created it. */
  readonly asked: string;
  readonly set: FrozenSet | null;
  /** Orders of the set that were checked. */
  readonly checked: number;
  /** The place in the set up to which each order has an outcome. */
  readonly cursor: number;
  /** Outcomes of the orders before the cursor. */
  readonly counts: OutcomeCounts;
  /** Outcomes of the orders from the cursor to the end of its chunk. */
  readonly ahead: OutcomeCounts;
  readonly verdicts: Verdicts;
  /** The next time at which a process must take up the run, mostly to examine orders that may still pass or fail; null if none must. */
  readonly verifyAt: number | null;
  /** Whether a person has resumed the run after its canary. */
  readonly canaryPassed: boolean;
  readonly pause: PauseCause | null;
  /** The reason for which it stopped by itself. */
  readonly stopped: { readonly code: string; readonly detail: string } | null;
  /** The agents to which the instruction sends requests, as far as the check has found out. */
  readonly agents: readonly string[];
  /** The process that works on the run, and until when it may: a lease. The epoch rises with every process. */
  readonly epoch: number;
  readonly heldBy: string | null;
  readonly heldUntil: number;
  readonly changes: readonly BulkChange[];
  /** The last API calls with an idempotency key, oldest first: names and hashes. */
  readonly calls: readonly { readonly name: string; readonly hash: string }[];
}

/** The figures that `GET /bulk/{id}` adds up. */
export interface BulkFigures {
  readonly count: number;
  readonly feasible: number;
  readonly infeasible: number;
  readonly applied: number;
  readonly refused: number;
  readonly movedOn: number;
  readonly failed: number;
  readonly left: number;
  readonly verified: { readonly running: number; readonly passed: number; readonly failedAgain: number; readonly failedOtherwise: number };
}

export const sumOf = (one: OutcomeCounts, other: OutcomeCounts): OutcomeCounts =>
  Object.fromEntries(outcomes.map((outcome) => [outcome, one[outcome] + other[outcome]])) as OutcomeCounts;

/** Returns the figures of a run. While the run is prepared, they count only the orders that were checked so far. */
export function figuresOf({ set, checked, counts, ahead, verdicts, kind }: BulkRun): BulkFigures {
  const { applied, refused, failed, infeasible, 'moved-on': movedOn } = sumOf(counts, ahead);
  const feasible = checked - infeasible;
  const { passed, 'failed-again': failedAgain, 'failed-otherwise': failedOtherwise } = verdicts;
  const running = isJudged(kind) ? applied - passed - failedAgain - failedOtherwise : 0;
  return {
    count: set?.count ?? 0,
    feasible,
    infeasible,
    applied,
    refused,
    movedOn,
    failed,
    left: feasible - applied - refused - movedOn - failed,
    verified: { running: Math.max(0, running), passed, failedAgain, failedOtherwise },
  };
}

/** Returns how many applied orders have neither passed nor failed yet. */
export const unverifiedOf = (run: BulkRun): number => figuresOf(run).verified.running;

/** Whether so many orders failed after the instruction that the run stops. */
export const failsTooOften = ({ stopAfterFailures, verdicts }: BulkRun): boolean =>
  stopAfterFailures !== null && verdicts['failed-again'] + verdicts['failed-otherwise'] >= stopAfterFailures;

/** Returns how many applied orders may be unverified at a time. A canary limits them until it has passed, `stopAfterFailures` always. */
export function unverifiedMax({ canary, canaryPassed, stopAfterFailures, kind }: BulkRun): number {
  if (!isJudged(kind)) return Number.POSITIVE_INFINITY;
  const ofCanary = canaryPassed ? null : canary;
  return Math.min(ofCanary ?? Number.POSITIVE_INFINITY, stopAfterFailures ?? Number.POSITIVE_INFINITY);
}

export const isFinal = ({ state }: Pick<BulkRun, 'state'>): boolean => state === 'stopped' || state === 'done';

/** Whether a process must work on a run now or later. A process that has died leaves its name (`heldBy`), and maybe uncounted outcomes. */
export const needsWork = (run: BulkRun): boolean => isActive(run) || run.heldBy !== null || run.verifyAt !== null;

const isActive = (run: BulkRun): boolean => run.state === 'preparing' || run.state === 'running' || hasPausedItself(run);

/** Whether a process may take a run now: the run needs a process, and no process has its lease. */
export const isFree = (run: BulkRun, now: number): boolean =>
  (run.heldBy === null || run.heldUntil <= now) && (isActive(run) || run.heldBy !== null || (run.verifyAt !== null && run.verifyAt <= now));

/** Whether a run has paused because of a breaker or a backlog: it resumes itself. */
export const hasPausedItself = ({ state, pause }: Pick<BulkRun, 'state' | 'pause'>): boolean =>
  state === 'paused' && (pause?.by === 'breaker' || pause?.by === 'backlog');

/** An order of the set with what has become of it. */
export interface BulkItem {
  readonly orderId: string;
  readonly reference?: string;
  readonly outcome: ItemOutcome | 'left';
  readonly at?: number;
  readonly refusals?: readonly ItemRefusal[];
  readonly verified?: Verdict;
  /** The present state of the order, if it failed after the instruction. */
  readonly now?: OrderNow;
}

/** The present state of an order. `fault`: the fault that blocks the order or has ended it, or the fault of its failing undo. */
export interface OrderNow {
  readonly processState: ProcessState;
  readonly outcome: Outcome | null;
  readonly fault: { readonly type: string; readonly message: string } | null;
}

/** The reason for which an order was refused. */
export interface ItemRefusal {
  readonly code: string;
  readonly path?: string;
  readonly detail: string;
}

/** An item keeps at most this many reasons, and `detailMax` characters of each. */
const refusalsMax = 5;
const detailMax = 500;
export const keptRefusals = (refusals: readonly ItemRefusal[]): readonly ItemRefusal[] =>
  refusals
    .slice(0, refusalsMax)
    .map(({ code, path, detail }) => ({ code, ...(path === undefined ? {} : { path }), detail: detail.slice(0, detailMax) }));
