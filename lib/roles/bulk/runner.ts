import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { isFatal } from '#ports/errors';
import { lists } from '#ports/lists';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import type { Instruct } from '#roles/operator/instruct';
import { createBrakes } from './brakes.ts';
import { bulkDocuments, runIn } from './documents.ts';
import { LeaseLostError } from './held-run.ts';
import { isFree } from './run.ts';
import { RunAtWork } from './run-at-work.ts';
import { type Verify, verifyBy } from './verify.ts';

export interface BulkRunnerPorts {
  readonly store: Store;
  readonly queues: Pick<Queues, 'depth'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly scheduler: { readonly instruct: Instruct };
  /** Names this process in the leases of runs. */
  readonly hostId: string;
  /** The queues of the scheduler. A run pauses while one of them is behind. */
  readonly schedulerQueues: readonly string[];
  /** Finds out whether an applied instruction has helped. */
  readonly verify?: Verify;
}

/** Carries out bulk runs. Several processes may do so side by side, but only one at a time works on the same run. */
export interface BulkRunner {
  /**
   * Works on every unfinished run that no process holds, until there is nothing to do at present, or the time of this process is over
   * (`isOver`).
   */
  work(isOver: () => boolean): Promise<void>;
}

/** The most runs that one call of `work` works on at a time. */
const runsMax = 10;
const lookEveryMs = 1_000;

export function createBulkRunner(ports: BulkRunnerPorts): BulkRunner {
  const { store, clock, telemetry, scheduler, verify = verifyBy(ports) } = ports;
  const documents = bulkDocuments(store);
  const brakes = createBrakes(ports);
  /** The runs that this process works on. */
  const mine = new Set<string>();

  async function waiting(): Promise<readonly string[]> {
    const { items } = await store.listed({ list: lists.unfinishedBulkRuns, order: 'ascending', limit: 100 });
    const now = clock.now();
    return items.map(runIn).flatMap((run) => (isFree(run, now) ? [run.id] : []));
  }

  async function workOn(id: string, isOver: () => boolean): Promise<void> {
    if (mine.has(id)) return;
    mine.add(id);
    try {
      const run = new RunAtWork(id, { ...ports, documents, brakes, verify, instruct: scheduler.instruct });
      if (await run.take()) await run.work(isOver);
    } catch (error) {
      if (isFatal(error)) throw error;
      // If the lease is lost, another process has the run. After another error, a process takes it when the lease of this one ends.
      const isLost = error instanceof LeaseLostError;
      telemetry.log(isLost ? 'info' : 'warn', isLost ? 'left a bulk run to another process' : 'cannot go on with a bulk run', {
        bulkId: id,
        error,
      });
    } finally {
      mine.delete(id);
    }
  }

  return {
    async work(isOver) {
      const running = new Set<Promise<void>>();
      try {
        for (;;) {
          for (const id of await waiting()) {
            if (running.size >= runsMax || mine.has(id)) continue;
            const work: Promise<void> = workOn(id, isOver).finally(() => running.delete(work));
            running.add(work);
          }
          if (running.size === 0) return;
          // A run that begins meanwhile must not wait for the end of another run.
          await Promise.race([Promise.all(running), clock.sleep(lookEveryMs)]);
          if (isOver()) return void (await allSettledOrThrow([...running]));
        }
      } finally {
        // Waits also after an error: Lambda would freeze the work that still runs.
        await Promise.allSettled(running);
      }
    },
  };
}
