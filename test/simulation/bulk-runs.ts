import { type BulkRun, figuresOf, isFinal, isFree, unverifiedMax, unverifiedOf } from '#roles/bulk/run';
import { bulkRecordsIn } from '#testing/world/bulk-records';
import type { Observation } from '#testing/world/observation';

/** The bulk runs of a world, as they were last written. */
export class BulkRuns {
  private readonly runs = new Map<string, BulkRun>();

  take(observation: Extract<Observation, { type: 'bulk recorded' }>): void {
    for (const record of bulkRecordsIn(observation)) if (record.what === 'run') this.runs.set(record.id, record.run);
  }

  get all(): readonly BulkRun[] {
    return [...this.runs.values()];
  }

  /** Whether a process with a correct clock would find a run to work on. */
  isAnyFree(now: number): boolean {
    return this.all.some((run) => isFree(run, now));
  }

  /** Counts the outcomes of the runs' orders and the ends of the runs, by name. */
  happened(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const add = (what: string, by: number): void => void counts.set(what, (counts.get(what) ?? 0) + by);
    for (const run of this.all) {
      const { verified, ...figures } = figuresOf(run);
      for (const [what, by] of Object.entries({ ...figures, ...verified })) add(`bulk ${what}`, by);
      if (run.epoch > 1) add('bulk runs taken over', 1);
    }
    return counts;
  }

  /** Returns the runs that wait for verdicts before they begin another order. A rule may have suspended an order without a verdict. */
  heldByOrders(): readonly BulkRun[] {
    return this.all.filter((run) => run.state === 'running' && unverifiedOf(run) > 0 && unverifiedOf(run) >= unverifiedMax(run));
  }

  /** Describes the runs that are not over. `mayFollow`: leaves out runs that only wait for verdicts, because these may need a person. */
  unrest(mayFollow: boolean): readonly string[] {
    const held = mayFollow ? this.heldByOrders() : [];
    const isOver = (run: BulkRun): boolean =>
      held.includes(run) || (isFinal(run) && run.heldBy === null && (mayFollow || run.verifyAt === null));
    return this.all.flatMap((run) =>
      isOver(run) ? [] : [`bulk run ${run.id} is ${run.state}, held by ${run.heldBy}, and looks at its orders again at ${run.verifyAt}`],
    );
  }
}
