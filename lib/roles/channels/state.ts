import type { JsonObject } from '#core/data/json';
import { opened as awayFrom, type Breaker, phaseOf, releasedBy } from '#ports/circuit-breaker';
import { collections, type Document, type Documents } from '#ports/documents';
import { allSettledOrThrow } from '#ports/util/all-settled';

/**
 * Whether a channel is open. Where nothing stands in the store, it is. Times are milliseconds since 1970. The record is what
 * counts; what feeds the functions follows it (`Valves`).
 */
export interface ChannelState {
  readonly channel: string;
  /** Rises by one at every write, from 1: its fence. */
  readonly rev: number;
  readonly state: 'open' | 'closed';
  /** When that became so, or will: one that is opened with a canary opens a little later. */
  readonly at: number;
  /** `engine`, or an operator's subject. */
  readonly by: string;
  readonly reason: string;
  /** Its queues that are shut while it is closed. */
  readonly queues: readonly string[];
  /** Since when those have waited who have had no turn yet; of an open one, when it had been closed. Null: it never was. */
  readonly closedAt: number | null;
  /** Failures in a row, of whatever conversations, with no success since that whoever failed knows of. */
  readonly failuresInRow: number;
  readonly failedAt: number | null;
  /** Of one that the engine has closed: nobody was told yet. Once it is open, nobody needs to be. */
  readonly unannounced: boolean;
}

/** By whom a channel is closed or opened, and why. */
export interface ChannelChange {
  readonly by: string;
  readonly reason: string;
  readonly now: number;
}

/** What the engine calls itself where it closes a channel. */
export const engine = 'engine';
/** A failure that is older is not in a row with one of now. */
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

/** Whether nothing is to be taken from a queue now. */
export const isShut = (state: ChannelState | undefined, queue: string, now: number): boolean =>
  state !== undefined && isClosed(state, now) && state.queues.includes(queue);

export const isClosed = ({ state, at }: ChannelState, now: number): boolean => state === 'closed' || now < at;

/** To those who wait a closed channel is what a service is that is away, and they are let go alike. Nobody goes and sees. */
export const outageOf = (state: ChannelState, now: number): Breaker => ({
  agent: state.channel,
  rev: state.rev,
  openedAt: state.closedAt ?? state.at,
  probeAt: Number.POSITIVE_INFINITY,
  failedProbes: 0,
  closedAt: isClosed(state, now) ? null : state.at,
});

/** It is open, and some who waited have not had their turn yet. */
export const letsGo = (state: ChannelState, now: number): boolean =>
  state.closedAt !== null && phaseOf(outageOf(state, now), now) === 'half-open';

export const closed = (
  before: ChannelState | undefined,
  channel: string,
  queues: readonly string[],
  { by, reason, now }: ChannelChange,
): ChannelState => {
  const known = before ?? untouched(channel, now);
  // Closed again before all that waited was let go, it is the same absence for those who are left.
  const absence = known.closedAt === null ? undefined : outageOf(known, now);
  const closedAt = awayFrom(channel, absence, now, 0).openedAt;
  return { ...known, rev: known.rev + 1, state: 'closed', at: now, by, reason, queues, closedAt, unannounced: by === engine };
};

/** People were told of the closing that was written as this rev; undefined where it is not as it was then. */
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

/** One failure more, and closed when that was one too many; undefined where nothing changes. `succeededAt`: what whoever failed knows. */
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
  readonly succeededAt: number;
}

/** Undefined where nothing changes. */
export const succeeded = (before: ChannelState | undefined): ChannelState | undefined =>
  before && before.state === 'open' && before.failuresInRow > 0
    ? { ...before, rev: before.rev + 1, failuresInRow: 0, failedAt: null }
    : undefined;

const id = 'CHANNEL';
const racesMax = 20;
/** An open channel's name stands in the register for so long after all who waited for it had their turn. */
const rememberedMs = 86_400_000;

export async function channelState(channel: string, documents: Pick<Documents, 'document'>): Promise<ChannelState | undefined> {
  const found = await documents.document(collections.channel(channel), id);
  return found && stateIn(found);
}

type Kept = Pick<Documents, 'document' | 'putDocument'>;

export type ChangeOutcome =
  | { readonly outcome: 'changed'; readonly state: ChannelState }
  | { readonly outcome: 'unchanged'; readonly state: ChannelState | undefined };

/**
 * Writes what `change` makes of the state that stands there; where that is undefined, nothing. It is made anew when somebody
 * else was faster. A channel that is closed stands in the register before that: nobody may miss it.
 */
export async function changeChannelState(
  channel: string,
  documents: Kept,
  change: (before: ChannelState | undefined) => ChannelState | undefined,
): Promise<ChangeOutcome> {
  for (let race = 1; race <= racesMax; race++) {
    const before = await channelState(channel, documents);
    const next = change(before);
    if (!next) return { outcome: 'unchanged', state: before };
    const turns = next.state !== (before?.state ?? 'open');
    const entry = turns ? await enrolled(channel, documents, next.state) : undefined;
    const document = { collection: collections.channel(channel), id, rev: next.rev, content: { ...next } as unknown as JsonObject };
    const { outcome } = await documents.putDocument(document, next.rev - 1);
    if (outcome === 'refused') continue;
    if (entry && next.state === 'open') {
      const expiresAt = releasedBy(outageOf(next, next.at), next.at) + rememberedMs;
      await documents.putDocument({ ...entry, rev: entry.rev + 1, expiresAt }, entry.rev);
    }
    return { outcome: 'changed', state: next };
  }
  throw new Error(`The record of the channel ${channel} is written by too many at once.`);
}

/** The channel's entry in the register; for one that is about to be closed it is written anew, so that nobody takes it out meanwhile. */
async function enrolled(channel: string, documents: Kept, state: ChannelState['state']): Promise<Document | undefined> {
  for (let race = 1; race <= racesMax; race++) {
    const found = await documents.document(collections.channels, channel);
    if (state === 'open') return found;
    const entry = { collection: collections.channels, id: channel, rev: (found?.rev ?? 0) + 1, content: {} };
    const { outcome } = await documents.putDocument(entry, entry.rev - 1);
    if (outcome === 'written') return entry;
  }
  throw new Error(`The register of closed channels is written by too many at once.`);
}

export type Closures = ReadonlyMap<string, ChannelState>;

/** Of how many channels there can be at the most. */
const channelsMax = 1000;

/** The channels that are closed, or were not long ago. */
export async function closures(documents: Pick<Documents, 'document' | 'documents'>, now: number): Promise<Closures> {
  const entries = await documents.documents(collections.channels, undefined, channelsMax);
  const named = entries.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  const states = await allSettledOrThrow(named.map((entry) => channelState(entry.id, documents)));
  return new Map(states.flatMap((state) => (state ? [[state.channel, state] as const] : [])));
}

const stateIn = ({ content }: Document): ChannelState => content as unknown as ChannelState;
