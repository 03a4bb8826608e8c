import { phaseOf } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import { lists, timeStart } from '#ports/lists';
import { queueNames } from '#ports/messages';
import { countedMax } from '#ports/order-figures';
import type { Queues } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { dayOf } from '#ports/util/days';
import { channelState, isClosed } from '#roles/channels/state';
import { exceptionGroups } from '#roles/exceptions/groups';
import { type ChannelFigures, countUpTo, type MinuteFigures, type Overview, overviewDocument, storedOverview } from './overview.ts';
import { stepCounts } from './steps.ts';

/** A channel, with those of its queues that are consumed. */
export interface WatchedChannel {
  readonly name: string;
  readonly queues: readonly string[];
  /** Whether the channel is that of an agent, which has a circuit breaker. */
  readonly isAgent: boolean;
}

export interface OverviewKeeperOptions {
  readonly store: Store;
  readonly queues: Pick<Queues, 'depth'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly telemetry: Telemetry;
  readonly channels: readonly WatchedChannel[];
  /** The largest age of the stored overview. */
  readonly everyMs: number;
}

/** Keeps the overview up to date. Each supervisor does so, and all of them compute the same figures. */
export interface OverviewKeeper {
  /** Forgets the orders of the last pass. */
  begin(): void;
  /** Notes an order that a pass has examined. */
  saw(head: StateHead): void;
  /** Writes the overview if it is old. */
  keep(): Promise<void>;
}

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const minutesShown = 60;
/** Minutes that are counted again, because counts of finished orders may come later: a process on AWS adds them every ten seconds. */
const lateMinutes = 3;
const groupsShown = 5;

export function createOverviewKeeper(options: OverviewKeeperOptions): OverviewKeeper {
  const { store, clock, telemetry, everyMs } = options;
  let overdue = 0;
  /** The last time at which this process saw the stored overview change. */
  let seenAt = Number.NEGATIVE_INFINITY;

  async function write(now: number): Promise<void> {
    const stored = await storedOverview(store);
    seenAt = Math.max(seenAt, stored?.overview.asOf ?? Number.NEGATIVE_INFINITY);
    // A time after `now` says nothing: the clock was set back.
    if (now - seenAt < everyMs && seenAt <= now) return;
    const overview = await figuresAt(now, overdue, stored?.overview, options);
    const rev = stored?.rev ?? 0;
    // If another supervisor was faster, its figures are as new.
    await store.putDocument(overviewDocument(overview, rev + 1), rev);
    seenAt = now;
  }

  return {
    begin() {
      overdue = 0;
    },
    saw({ completeBy, processState }) {
      if (completeBy !== null && completeBy <= clock.now() && processState !== 'Processed') overdue += 1;
    },
    async keep() {
      const now = clock.now();
      if (now - seenAt < everyMs && seenAt <= now) return;
      try {
        await write(now);
      } catch (error) {
        // A failure here must not stop the pass: orders that are due do not wait for figures.
        if (isFatal(error)) throw error;
        telemetry.log('warn', 'cannot write the overview', { error });
      }
    },
  };
}

type Sources = Pick<OverviewKeeperOptions, 'store' | 'queues' | 'channels'>;

async function figuresAt(now: number, overdue: number, last: Overview | undefined, sources: Sources): Promise<Overview> {
  const { store } = sources;
  const count = (range: Parameters<Store['countListed']>[0]) => store.countListed(range, countedMax);
  const [unfinished, finished, open, claimed, late, groups, channels, perMinute, oldestAt] = await allSettledOrThrow([
    store.countUnfinished(countedMax),
    store.countFinished(now - (now % dayMs), now + 1, countedMax),
    count({ list: lists.openTasks }),
    count({ list: lists.claimedTasks }),
    allSettledOrThrow([lists.openTasks, lists.claimedTasks].map((list) => count({ list, to: timeStart(now) }))),
    exceptionGroups(store, now),
    allSettledOrThrow(sources.channels.map((channel) => channelFigures(channel, now, sources))),
    minutesUntil(now, last, store),
    store.unfinished ? Number.POSITIVE_INFINITY : oldestOf(store),
  ]);
  const { pending, processing, error } = unfinished;
  const oldest = Math.min(unfinished.oldestAt ?? Number.POSITIVE_INFINITY, oldestAt);
  return {
    asOf: now,
    processing: countUpTo(processing),
    pending: countUpTo(pending),
    error: countUpTo(error),
    overdue: countUpTo(overdue),
    processedToday: countUpTo(finished),
    oldestLiveSeconds: Number.isFinite(oldest) ? Math.max(0, Math.floor((now - oldest) / 1000)) : null,
    tasks: { open: countUpTo(open), claimed: countUpTo(claimed), overdue: countUpTo(late.reduce((sum, each) => sum + each, 0)) },
    exceptions: { open: countUpTo(groups.reduce((sum, { open: each }) => sum + each, 0)) },
    groups: groups.filter((group) => group.open > 0).slice(0, groupsShown),
    channels,
    perMinute,
  };
}

/** Returns when the oldest unfinished order was submitted; infinity if all those that the last sweep kept as the oldest are finished. */
async function oldestOf(store: Store): Promise<number> {
  for (const { orderId, submittedAt } of (await stepCounts(store))?.oldest ?? []) {
    const head = await store.head(orderId).catch(() => undefined);
    if (head && head.processState !== 'Processed') return submittedAt;
  }
  return Number.POSITIVE_INFINITY;
}

async function channelFigures(
  { name, queues: own, isAgent }: WatchedChannel,
  now: number,
  { store, queues }: Sources,
): Promise<ChannelFigures> {
  const [state, breaker, ...depths] = await allSettledOrThrow([
    channelState(name, store),
    isAgent ? store.breaker(name) : undefined,
    ...own.map((queue) => queues.depth(queue)),
  ]);
  // A delayed wake-up is not waiting work: its order has planned to continue at that later time.
  const waiting = depths.map(({ visible, delayed, oldestAgeMs }) => ({
    count: visible + (name === queueNames.wakeUps ? 0 : delayed),
    oldestAgeMs,
  }));
  return {
    name,
    depth: waiting.reduce((sum, { count }) => sum + count, 0),
    oldestSeconds: Math.floor(Math.max(0, ...waiting.map(({ count, oldestAgeMs }) => (count > 0 ? oldestAgeMs : 0))) / 1000),
    open: state === undefined || !isClosed(state, now),
    outage: isAgent && phaseOf(breaker, now) === 'open',
  };
}

/**
 * Returns the figures of each minute of the last hour. Counts only the minutes that the last overview lacks, or may have counted too early.
 */
async function minutesUntil(now: number, last: Overview | undefined, store: Store): Promise<readonly MinuteFigures[]> {
  const present = now - (now % minuteMs);
  const known = new Map(last?.perMinute.map((minute) => [minute.at, minute]));
  const settledBefore = last === undefined ? Number.NEGATIVE_INFINITY : last.asOf - (last.asOf % minuteMs) - (lateMinutes - 1) * minuteMs;
  return allSettledOrThrow(
    Array.from({ length: minutesShown }, async (_, index): Promise<MinuteFigures> => {
      const at = present - (minutesShown - 1 - index) * minuteMs;
      const settled = at < settledBefore ? known.get(at) : undefined;
      return settled ?? { at, ...(await countMinute(at, store)) };
    }),
  );
}

async function countMinute(at: number, store: Store): Promise<Pick<MinuteFigures, 'processed' | 'errors'>> {
  const range = { from: timeStart(at), to: timeStart(at + minuteMs) };
  const [processed, errors] = await allSettledOrThrow([
    store.countFinished(at, at + minuteMs, countedMax),
    store.countListed({ list: lists.exceptions(dayOf(at)), ...range }, countedMax),
  ]);
  return { processed, errors };
}
