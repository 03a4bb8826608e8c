import type { JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import { countedMax } from '#ports/order-figures';
import type { ExceptionGroup } from '#roles/exceptions/groups';

/** A count, or the figure at which counting stopped. */
export type Count = number | { readonly atLeast: number };

export const countUpTo = (count: number): Count => (count >= countedMax ? { atLeast: countedMax } : count);

/** A queue pair, or another queue, as the overview shows it. */
export interface ChannelFigures {
  readonly name: string;
  /** Messages that wait in its queues. */
  readonly depth: number;
  readonly oldestSeconds: number;
  readonly open: boolean;
  /** Whether the service behind the agent is unavailable. */
  readonly outage: boolean;
}

/** The figures of one minute. */
export interface MinuteFigures {
  /** The start of the minute: milliseconds since 1970. */
  readonly at: number;
  /** Orders that finished. */
  readonly processed: number;
  /** Exceptions that were recorded. */
  readonly errors: number;
}

/** The figures of the whole system, as the supervisor writes them. Times: milliseconds since 1970. */
export interface Overview {
  readonly asOf: number;
  readonly processing: Count;
  readonly pending: Count;
  readonly error: Count;
  /** Orders that the supervisor found past their `completeBy`. */
  readonly overdue: Count;
  /** Orders that finished since midnight, UTC. */
  readonly processedToday: Count;
  /** The age of the oldest order that is not finished; null if there is none. */
  readonly oldestLiveSeconds: number | null;
  /** `claimed`: figures of an older version lack it. */
  readonly tasks: { readonly open: Count; readonly claimed?: Count; readonly overdue: Count };
  /** Open exceptions of the last 30 days. They include those of stuck undos, whose orders are not in Error. Absent in old figures. */
  readonly exceptions?: { readonly open: Count };
  /** The groups of alike exceptions that have the most open ones. */
  readonly groups: readonly ExceptionGroup[];
  readonly channels: readonly ChannelFigures[];
  /** The last hour, the oldest minute first. */
  readonly perMinute: readonly MinuteFigures[];
}

const id = 'CURRENT';

/** An overview, with the rev of its document. */
export interface StoredOverview {
  readonly rev: number;
  readonly overview: Overview;
}

/** Returns the overview that was written last; undefined if no supervisor has run yet. */
export async function storedOverview(store: Pick<Documents, 'document'>): Promise<StoredOverview | undefined> {
  const found = await store.document(collections.overview, id);
  return found && { rev: found.rev, overview: found.content as unknown as Overview };
}

export const overviewDocument = (overview: Overview, rev: number): Document => ({
  collection: collections.overview,
  id,
  rev,
  content: overview as unknown as JsonObject,
});
