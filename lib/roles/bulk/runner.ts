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
  /** Works on every run that needs it and has no process, until nothing is to do now or `isOver()`. */
  work(isOver: () => boolean): Promise<void>;
}

/** Runs that one process works on at a time. */
const runsMax = 10;
const lookEveryMs = 1_000;

export function createBulkRunner(ports: BulkRunnerPorts): BulkRunner {
  const { store, clock, telemetry, scheduler, verify = verifyBy(ports) } = ports;
  const documents = bulkDocuments(store);
  const brakes = createBrakes(ports);
  /** The runs that this process works on. */
  const atWork = new Set<string>();

  async function waiting(): Promise<readonly string[]> {
    const { items } = await store.listed({ list: lists.bulkAtWork, order: 'ascending', limit: 100 });
    const now = clock.now();
    return items.map(runIn).flatMap((run) => (isFree(run, now) ? [run.id] : []));
  }

  async function workOn(id: string, isOver: () => boolean): Promise<void> {
    if (atWork.has(id)) return;
    atWork.add(id);
    try {
      const run = new RunAtWork(id, { ...ports, documents, brakes, verify, instruct: scheduler.instruct });
      if (await run.take()) await run.work(isOver);
    } catch (error) {
      if (isFatal(error)) throw error;
      // Another process has taken the run, or will: its lease ends soon.
      const isLost = error instanceof LeaseLostError;
      telemetry.log(isLost ? 'info' : 'warn', isLost ? 'left a bulk run to another process' : 'bulk run interrupted', {
        bulkId: id,
        error,
      });
    } finally {
      atWork.delete(id);
    }
  }

  return {
    async work(isOver) {
      const running = new Set<Promise<void>>();
      try {
        for (;;) {
          for (const id of await waiting()) {
            if (running.size >= runsMax || atWork.has(id)) continue;
            const work: Promise<void> = workOn(id, isOver).finally(() => running.delete(work));
            running.add(work);
          }
          if (running.size === 0) return;
          // A run that begins meanwhile must not wait for the end of another one.
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
