import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import { agentOfReplies } from '#ports/messages';
import type { QueueDepth, Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type Backlog, isBackedUp, isBehind, isCoveredByOutage, isFull, type Lateness } from './backlog.ts';

export interface BacklogMonitorOptions {
  readonly depth: Queues['depth'];
  /** The agents' reply queues. */
  readonly replyQueues: readonly string[];
  /** Interval between passes. If it is infinite, a delay of the passes never counts as a backlog. */
  readonly periodMs: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Decides from one pass whether steps are late because of a backlog of the system. */
export interface BacklogMonitor {
  /** Starts a new pass, and forgets what the previous pass has seen. */
  begin(): void;
  /** Records a late step. */
  saw(lateByMs: number): void;
  /** Returns the backlog that explains this expiry, so that it does not count against the agent; undefined if none does. */
  behindWith(head: StateHead, waitingSince: number): Promise<Backlog | undefined>;
}

/** Longest gap between two reads of a queue. After a longer gap, it is unknown how long the queue has been full. */
const lookedMs = 30_000;

interface Seen extends QueueDepth {
  readonly queue: string;
  readonly fullForMs: number;
}

export function createBacklogMonitor({ depth, replyQueues, periodMs, clock, telemetry }: BacklogMonitorOptions): BacklogMonitor {
  const full = new Map<string, { readonly since: number; readonly at: number }>();
  let tally: Lateness = { late: 0, overdue: 0 };
  let seen: Promise<ReadonlyMap<string, Seen>> | undefined;

  /** Reads the depth of a queue. A queue that cannot be read explains no expiry and delays none. */
  async function look(queue: string): Promise<readonly (readonly [string, Seen])[]> {
    try {
      const found = await depth(queue);
      const now = clock.now();
      const last = full.get(queue);
      const since = last && now - last.at <= lookedMs ? last.since : now;
      if (isFull(found)) full.set(queue, { since, at: now });
      else full.delete(queue);
      return [[agentOfReplies(queue) ?? '', { ...found, queue, fullForMs: isFull(found) ? now - since : 0 }]];
    } catch (error) {
      if (isFatal(error)) throw error;
      telemetry.log('warn', 'cannot read queue depth', { queue, error });
      return [];
    }
  }

  /** Reads all queues, once in a pass and only if a step is late. */
  const depths = (): Promise<ReadonlyMap<string, Seen>> =>
    (seen ??= allSettledOrThrow(replyQueues.map(look)).then((found) => new Map(found.flat())));

  return {
    begin() {
      tally = { late: 0, overdue: 0 };
      seen = undefined;
    },
    saw(lateByMs) {
      tally = { late: tally.late + 1, overdue: tally.overdue + (lateByMs > periodMs ? 1 : 0) };
    },
    async behindWith({ nextDueFor, stepMs }, waitingSince) {
      const found = (await depths()).get(nextDueFor?.agent ?? '');
      if (found && isBackedUp(found, found.fullForMs, stepMs) && isCoveredByOutage(waitingSince, stepMs, clock.now()))
        return { source: found.queue, reason: `the queue ${found.queue} is backed up` };
      // This reason excuses each step one time only: a step that is late again has already had more than its timeout.
      if (nextDueFor?.waitingSince === undefined && isBehind(tally))
        return { source: 'deadlines', reason: 'most late deadlines were not seen in time' };
      return undefined;
    },
  };
}
