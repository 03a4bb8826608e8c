import type { JsonObject } from '#core/data/json';
import { collections, type Documents } from '#ports/documents';
import type { Attempt } from './dead-letter.ts';

/** How often handling the messages of one conversation failed; the attempts oldest first, the last ten. */
export interface Track {
  readonly attempts: readonly Attempt[];
  readonly failures: number;
}

/** A track as it was read, with its fence. */
export interface Tracked {
  readonly rev: number;
  readonly track: Track | undefined;
}

/** The names of one track. */
export interface TrackKey {
  readonly channel: string;
  readonly conversation: string;
}

type Store = Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;

/** Where nothing fails for so long, what failed before is forgotten. */
const keptForMs = 86_400_000;
const attemptsKept = 10;
/** Of those who handle messages of one conversation at the same time, each round one wins. */
const racesMax = 25;

/** Stands where an attempt has begun. Whoever made it takes it back, or says what came of it; unless he has died. */
export const neverHeardOf = 'It began, and was never heard of again.';

export async function readTrack({ channel, conversation }: TrackKey, store: Store, now: number): Promise<Tracked> {
  return trackedIn(await store.document(collections.tracks(channel), conversation), now);
}

/** Writes what is made of a track. Who loses a race makes it of what has won. */
export async function changeTrack(
  key: TrackKey,
  change: (track: Track | undefined) => Track | undefined,
  { store, now, known }: { readonly store: Store; readonly now: number; readonly known?: Tracked | undefined },
): Promise<Tracked> {
  const collection = collections.tracks(key.channel);
  const id = key.conversation;
  let found = known ?? (await readTrack(key, store, now));
  for (let race = 1; race <= racesMax; race++) {
    const track = change(found.track);
    if (!track && found.rev === 0) return found;
    const rev = found.rev + 1;
    const content = { ...track } as unknown as JsonObject;
    const answer = track
      ? await store.putDocument({ collection, id, rev, content, expiresAt: now + keptForMs }, found.rev)
      : await store.removeDocument(collection, id, found.rev);
    if (answer.outcome === 'written') return track ? { rev, track } : { rev: 0, track: undefined };
    found = trackedIn(answer.current ?? undefined, now);
  }
  throw new Error('Too many others count failures of the same conversation.');
}

export const withFailure =
  (attempt: Attempt) =>
  (track: Track | undefined): Track => ({
    attempts: [...(track?.attempts ?? []), attempt].slice(-attemptsKept),
    failures: (track?.failures ?? 0) + 1,
  });

/** An attempt that began then has failed, and it is known how. */
export const withReason =
  (attempt: Attempt) =>
  (track: Track | undefined): Track => {
    const began = track?.attempts.findLastIndex((each) => isBegun(each, attempt.at)) ?? -1;
    return track && began >= 0 ? { ...track, attempts: track.attempts.with(began, attempt) } : withFailure(attempt)(track);
  };

/** An attempt that began then is none. */
export const without =
  (at: number) =>
  (track: Track | undefined): Track | undefined => {
    const began = track?.attempts.findLastIndex((each) => isBegun(each, at)) ?? -1;
    if (!track || began < 0) return track;
    return track.failures > 1 ? { attempts: track.attempts.toSpliced(began, 1), failures: track.failures - 1 } : undefined;
  };

const isBegun = (attempt: Attempt, at: number): boolean => attempt.at === at && attempt.error === neverHeardOf;

const trackedIn = (document: Awaited<ReturnType<Store['document']>>, now: number): Tracked => {
  if (!document) return { rev: 0, track: undefined };
  const isOver = (document.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  return { rev: document.rev, track: isOver ? undefined : (document.content as unknown as Track) };
};
