import { noFigures, type SolutionFigures } from '#core/solutions/rank';
import type { Solution } from '#core/solutions/solution';
import { collections } from '#ports/documents';
import { hashOf } from '#ports/records';
import type { Tallies, Tally, TallyAdd } from '#ports/tallies';
import type { TaskRecord, TaskVerdict } from '#ports/tasks';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayMs } from '#ports/util/days';

/** Parts of the figures of all solutions, so that a bulk run with one solution meets no limit of a partition. */
const figureShards = 8;

/** Figures are kept for five years after the last use of their solution. */
const keptMs = 1827 * dayMs;

/** A use counts when its task is resolved, and once more when its verdict is known. */
export type CountedUse = 'used' | Exclude<TaskVerdict, 'running'>;

/**
 * Returns what a write of a task adds to the figures of the solution that resolved it; undefined if no solution did, or if instructions of
 * its kind are not verified. The task's own `rev` makes each addition happen once.
 */
export function figuresAdd({ orderId, resolution, verified }: TaskRecord, counted: CountedUse, at: number): TallyAdd | undefined {
  const solution = resolution?.solution;
  if (!solution || verified === undefined) return undefined;
  return {
    collection: collections.solutionFigures(hashOf(orderId) % figureShards),
    id: tallyIdOf(solution),
    sums: { [counted]: 1 },
    about: {},
    ...(counted === 'used' ? { at } : {}),
    expiresAt: at + keptMs,
  };
}

const tallyIdOf = ({ id, version }: { readonly id: string; readonly version: number }): string => `${id}#${version}`;

/** Returns a function that returns the figures of a solution, counted since its present instruction was written. */
export async function figuresOf(store: Pick<Tallies, 'tallies'>): Promise<(solution: Solution) => SolutionFigures> {
  const read = await allSettledOrThrow(
    Array.from({ length: figureShards }, (_, shard) => store.tallies(collections.solutionFigures(shard), '')),
  );
  const bySolution = Map.groupBy(read.flat(), ({ id }) => id.slice(0, id.lastIndexOf('#')));
  return ({ id, instructionSince }) =>
    (bySolution.get(id) ?? []).filter((tally) => versionIn(tally) >= instructionSince).reduce(plus, noFigures);
}

const versionIn = ({ id }: Tally): number => Number(id.slice(id.lastIndexOf('#') + 1));

const plus = (sum: SolutionFigures, { sums, lastAt }: Tally): SolutionFigures => ({
  used: sum.used + (sums['used'] ?? 0),
  passed: sum.passed + (sums['passed'] ?? 0),
  failedAgain: sum.failedAgain + (sums['failed-again'] ?? 0),
  failedOtherwise: sum.failedOtherwise + (sums['failed-otherwise'] ?? 0),
  lastUsedAt: Math.max(sum.lastUsedAt ?? 0, lastAt) || null,
});
