import type { Clock } from '#ports/clock';
import { agentOfReplies } from '#ports/messages';
import type { QueueDepth, Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type Backlog, isBackedUp, isBehind, isCoveredByOutage, isFull, type Lateness } from './backlog.ts';

export interface BacklogMonitorOptions {
  readonly depth: Queues['depth'];
  /** Where agents answer. */
  readonly replyQueues: readonly string[];
  /** How often a pass looks; where it is not known, nothing is too late to be somebody else's fault. */
  readonly periodMs: number;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** What is late in one pass, as far as it has been seen. */
export interface BacklogMonitor {
  /** A new pass: what was seen before says nothing any more. */
  begin(): void;
  /** One is late by so long. */
  saw(lateByMs: number): void;
  /** What the system is behind with, so that this expiry says nothing of the agent. */
  behindWith(head: StateHead, waitingSince: number): Promise<Backlog | undefined>;
}

/** Who has not looked for longer does not know what was there meanwhile. */
const lookedMs = 30_000;

interface Seen extends QueueDepth {
  readonly queue: string;
  readonly fullForMs: number;
}

export function createBacklogMonitor({ depth, replyQueues, periodMs, clock, telemetry }: BacklogMonitorOptions): BacklogMonitor {
  const full = new Map<string, { readonly since: number; readonly at: number }>();
  let tally: Lateness = { late: 0, overdue: 0 };
  let seen: Promise<ReadonlyMap<string, Seen>> | undefined;

  /** A queue that cannot be looked into excuses nobody, and keeps nobody waiting. */
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
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'supervisor cannot look into a queue', { queue, error });
      return [];
    }
  }

  /** All of them, once a pass, and only where something is late. */
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
      // Once for each step: whoever is late again, seen in time or not, has had more time than he was promised.
      if (nextDueFor?.waitingSince === undefined && isBehind(tally))
        return { source: 'deadlines', reason: 'most of what is late was not seen in time' };
      return undefined;
    },
  };
}
