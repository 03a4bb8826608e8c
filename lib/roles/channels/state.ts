import type { JsonObject } from '#core/data/json';
import { opened as awayFrom, type Breaker, phaseOf, releasedBy } from '#ports/circuit-breaker';
import { collections, type Document, type Documents } from '#ports/documents';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { compareAndSet } from '#ports/util/compare-and-set';

/**
 * State of a channel. A channel without a record is open. Times are milliseconds since 1970. The record is the source of truth;
 * the consumers follow it (`Consumers`).
 */
export interface ChannelState {
  readonly channel: string;
  /** Starts at 1 and rises by one with every write. It fences the writes. */
  readonly rev: number;
  readonly state: 'open' | 'closed';
  /** The time at which the state takes effect. A channel that is opened with a canary opens a little later. */
  readonly at: number;
  /** `engine`, or the id of the operator who changed the state. */
  readonly by: string;
  readonly reason: string;
  /** The queues of the channel that are not consumed while it is closed. */
  readonly queues: readonly string[];
  /** The start of the outage for the requests that still wait. An open channel keeps this time, to release them. Null: never closed. */
  readonly closedAt: number | null;
  /** Failures in a row over all conversations. A success counts only if the process of the next failure knows of it. */
  readonly failuresInRow: number;
  readonly failedAt: number | null;
  /** The engine closed the channel and has not announced it yet. An open channel needs no announcement. */
  readonly unannounced: boolean;
}

/** The author, the reason and the time of a change. */
export interface ChannelChange {
  readonly by: string;
  readonly reason: string;
  readonly now: number;
}

/** Value of `by` when the engine closes a channel. */
export const engine = 'engine';
/** Failures further apart than this are not in a row. */
const inRowMs = 3_600_000;

const untouched = (channel: string, now: number): ChannelState => ({
  channel,
  rev: 0,
  state: 'open',
  at: now,
  by: engine,
  reason: '',
  queues: [],
  closedAt: null,
  failuresInRow: 0,
  failedAt: null,
  unannounced: false,
});

/** Whether a queue must not be consumed now. */
export const isShut = (state: ChannelState | undefined, queue: string, now: number): boolean =>
  state !== undefined && isClosed(state, now) && state.queues.includes(queue);

export const isClosed = ({ state, at }: ChannelState, now: number): boolean => state === 'closed' || now < at;

/** Returns a closed channel as an outage of its service: waiting requests are released in the same way, but without probes. */
export const outageOf = (state: ChannelState, now: number): Breaker => ({
  agent: state.channel,
  rev: state.rev,
  openedAt: state.closedAt ?? state.at,
  probeAt: Number.POSITIVE_INFINITY,
  failedProbes: 0,
  closedAt: isClosed(state, now) ? null : state.at,
});

/** Whether an open channel still has waiting requests to release. */
export const isReleasing = (state: ChannelState, now: number): boolean =>
  state.closedAt !== null && phaseOf(outageOf(state, now), now) === 'half-open';

export const closed = (
  before: ChannelState | undefined,
  channel: string,
  queues: readonly string[],
  { by, reason, now }: ChannelChange,
): ChannelState => {
  const known = before ?? untouched(channel, now);
  // A channel that is closed again before all requests are released continues the same outage for the requests that still wait.
  const outage = known.closedAt === null ? undefined : outageOf(known, now);
  const closedAt = awayFrom(channel, outage, now, 0).openedAt;
  return { ...known, rev: known.rev + 1, state: 'closed', at: now, by, reason, queues, closedAt, unannounced: by === engine };
};

/** Returns the state after the closing of this rev was announced; undefined if the state has changed since. */
export const withoutUnannounced = (before: ChannelState | undefined, rev: number): ChannelState | undefined =>
  before?.rev === rev ? { ...before, rev: rev + 1, unannounced: false } : undefined;

export const opened = (before: ChannelState, { by, reason, now }: ChannelChange, at = now): ChannelState => ({
  ...before,
  rev: before.rev + 1,
  state: 'open',
  at,
  by,
  reason,
  failuresInRow: 0,
  failedAt: null,
  unannounced: false,
});

/** Returns the state after a failure: closed if the limit is reached; undefined if nothing changes. */
export function failed(
  before: ChannelState | undefined,
  { channel, queue, now, closesAfter, succeededAt }: FailureReport,
): ChannelState | undefined {
  const known = before ?? untouched(channel, now);
  if (known.state === 'closed') return undefined;
  const last = known.failedAt ?? Number.NEGATIVE_INFINITY;
  const isInRow = now - last < inRowMs && succeededAt <= last;
  const failuresInRow = (isInRow ? known.failuresInRow : 0) + 1;
  const counted = { ...known, failuresInRow, failedAt: now };
  if (failuresInRow < closesAfter) return { ...counted, rev: known.rev + 1 };
  return closed(counted, channel, [queue], { by: engine, reason: `${failuresInRow} failures in a row on ${queue}`, now });
}

export interface FailureReport {
  readonly channel: string;
  readonly queue: string;
  readonly now: number;
  readonly closesAfter: number;
  /** The time of the last success in the reporting process; minus infinity if there was none. */
  readonly succeededAt: number;
}

/** Returns the state after a success; undefined if nothing changes. */
export const succeeded = (before: ChannelState | undefined): ChannelState | undefined =>
  before && before.state === 'open' && before.failuresInRow > 0
    ? { ...before, rev: before.rev + 1, failuresInRow: 0, failedAt: null }
    : undefined;

const id = 'CHANNEL';
/** An open channel stays in the register for this long after its last waiting request was released. */
const rememberedMs = 86_400_000;

export async function channelState(channel: string, documents: Pick<Documents, 'document'>): Promise<ChannelState | undefined> {
  const found = await documents.document(collections.channel(channel), id);
  return found && stateIn(found);
}

type Kept = Pick<Documents, 'document' | 'putDocument'>;

/** The result of a change of a channel. `unchanged`: the channel had that state already. */
export type ChangeOutcome =
  | { readonly outcome: 'changed'; readonly state: ChannelState }
  | { readonly outcome: 'unchanged'; readonly state: ChannelState | undefined };

/** Returns new documents for the transaction of a change. After a lost race it is called again. */
export type Beside = (before: ChannelState | undefined) => readonly Document[];

/**
 * Applies `change` to the current state and writes the result, unless `change` returns undefined. After a lost race it tries again. The
 * register lists a channel before the channel is closed, so that no host can miss the closing.
 */
export async function changeChannelState(
  channel: string,
  documents: Kept,
  change: (before: ChannelState | undefined) => ChannelState | undefined,
  beside: Beside = () => [],
): Promise<ChangeOutcome> {
  const changed = await compareAndSet<ChangeOutcome>(async () => {
    const before = await channelState(channel, documents);
    const next = change(before);
    if (!next) return { outcome: 'unchanged', state: before };
    const opensOrCloses = next.state !== (before?.state ?? 'open');
    const entry = opensOrCloses ? await enrolled(channel, documents, next.state) : undefined;
    const document = { collection: collections.channel(channel), id, rev: next.rev, content: { ...next } as unknown as JsonObject };
    const { outcome } = await documents.putDocument(document, next.rev - 1, beside(before));
    if (outcome === 'refused') return 'lost';
    if (entry && next.state === 'open') {
      const expiresAt = releasedBy(outageOf(next, next.at), next.at) + rememberedMs;
      await documents.putDocument({ ...entry, rev: entry.rev + 1, expiresAt }, entry.rev);
    }
    return { outcome: 'changed', state: next };
  });
  if (changed === 'lost') throw new Error(`The state of channel ${channel} changes too often at once. Try again.`);
  return changed;
}

/**
 * Returns the channel's entry in the register. Before a closing it is rewritten, so that it does not expire while the channel is closed.
 */
async function enrolled(channel: string, documents: Kept, state: ChannelState['state']): Promise<Document | undefined> {
  const entered = await compareAndSet(async () => {
    const found = await documents.document(collections.channels, channel);
    if (state === 'open') return found;
    const entry = { collection: collections.channels, id: channel, rev: (found?.rev ?? 0) + 1, content: {} };
    const { outcome } = await documents.putDocument(entry, entry.rev - 1);
    return outcome === 'written' ? entry : 'lost';
  });
  if (entered === 'lost') throw new Error('Too many concurrent writes of the register of closed channels. Try again.');
  return entered;
}

export type Closures = ReadonlyMap<string, ChannelState>;

/** Upper bound of the number of channels. */
const channelsMax = 1000;

/** Returns the channels that are closed or were closed recently. */
export async function closures(documents: Pick<Documents, 'document' | 'documents'>, now: number): Promise<Closures> {
  const entries = await documents.documents(collections.channels, undefined, channelsMax);
  const named = entries.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  const states = await allSettledOrThrow(named.map((entry) => channelState(entry.id, documents)));
  return new Map(states.flatMap((state) => (state ? [[state.channel, state] as const] : [])));
}

const stateIn = ({ content }: Document): ChannelState => content as unknown as ChannelState;
