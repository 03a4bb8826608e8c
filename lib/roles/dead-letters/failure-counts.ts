import type { JsonObject } from '#core/data/json';
import { collections, type Documents } from '#ports/documents';
import type { Attempt } from './dead-letter.ts';

/** How often handling the messages of one conversation failed; the attempts oldest first, the last ten. */
export interface FailureCount {
  readonly attempts: readonly Attempt[];
  readonly failures: number;
}

/** A track as it was read, with its fence. */
export interface StoredFailureCount {
  readonly rev: number;
  readonly count: FailureCount | undefined;
}

/** The names of one track. */
export interface FailureCountKey {
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
export const noFailures = 'It began, and was never heard of again.';

export async function readFailureCount({ channel, conversation }: FailureCountKey, store: Store, now: number): Promise<StoredFailureCount> {
  return storedCountIn(await store.document(collections.tracks(channel), conversation), now);
}

/** Writes what is made of a track. Who loses a race makes it of what has won. */
export async function changeFailureCount(
  key: FailureCountKey,
  change: (count: FailureCount | undefined) => FailureCount | undefined,
  { store, now, stored }: { readonly store: Store; readonly now: number; readonly stored?: StoredFailureCount | undefined },
): Promise<StoredFailureCount> {
  const collection = collections.tracks(key.channel);
  const id = key.conversation;
  let found = stored ?? (await readFailureCount(key, store, now));
  for (let race = 1; race <= racesMax; race++) {
    const count = change(found.count);
    if (!count && found.rev === 0) return found;
    const rev = found.rev + 1;
    const content = { ...count } as unknown as JsonObject;
    const answer = count
      ? await store.putDocument({ collection, id, rev, content, expiresAt: now + keptForMs }, found.rev)
      : await store.removeDocument(collection, id, found.rev);
    if (answer.outcome === 'written') return count ? { rev, count } : { rev: 0, count: undefined };
    found = storedCountIn(answer.current ?? undefined, now);
  }
  throw new Error('Too many others count failures of the same conversation.');
}

export const withFailure =
  (attempt: Attempt) =>
  (count: FailureCount | undefined): FailureCount => ({
    attempts: [...(count?.attempts ?? []), attempt].slice(-attemptsKept),
    failures: (count?.failures ?? 0) + 1,
  });

/** An attempt that began then has failed, and it is known how. */
export const withReason =
  (attempt: Attempt) =>
  (count: FailureCount | undefined): FailureCount => {
    const began = count?.attempts.findLastIndex((each) => isBegun(each, attempt.at)) ?? -1;
    return count && began >= 0 ? { ...count, attempts: count.attempts.with(began, attempt) } : withFailure(attempt)(count);
  };

/** An attempt that began then is none. */
export const without =
  (at: number) =>
  (count: FailureCount | undefined): FailureCount | undefined => {
    const began = count?.attempts.findLastIndex((each) => isBegun(each, at)) ?? -1;
    if (!count || began < 0) return count;
    return count.failures > 1 ? { attempts: count.attempts.toSpliced(began, 1), failures: count.failures - 1 } : undefined;
  };

const isBegun = (attempt: Attempt, at: number): boolean => attempt.at === at && attempt.error === noFailures;

const storedCountIn = (document: Awaited<ReturnType<Store['document']>>, now: number): StoredFailureCount => {
  if (!document) return { rev: 0, count: undefined };
  const isOver = (document.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  return { rev: document.rev, count: isOver ? undefined : (document.content as unknown as FailureCount) };
};
