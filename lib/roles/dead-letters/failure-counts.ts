import type { JsonObject } from '#core/data/json';
import { collections, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import type { Attempt } from './dead-letter.ts';

/** Failures to handle the messages of one conversation, with the last ten attempts, oldest first. */
export interface FailureCount {
  readonly attempts: readonly Attempt[];
  readonly failures: number;
}

/** A failure count as read, with its fence. */
export interface StoredFailureCount {
  readonly rev: number;
  readonly count: FailureCount | undefined;
}

/** Key of a failure count. */
export interface FailureCountKey {
  readonly channel: string;
  readonly conversation: string;
}

type Store = Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;

/** A failure count expires this long after its last failure. */
const keptForMs = 86_400_000;
const attemptsKept = 10;
const racesMax = 25;

/** Error of an attempt that has begun. The process replaces or removes it after the attempt, unless it crashes. */
export const noFailures = 'Processing began, and no result was reported.';

export async function readFailureCount({ channel, conversation }: FailureCountKey, store: Store, now: number): Promise<StoredFailureCount> {
  return storedCountIn(await store.document(collections.tracks(channel), conversation), now);
}

/** Applies `change` to a failure count and writes the result. After a lost race it applies `change` to the winning record. */
export async function changeFailureCount(
  key: FailureCountKey,
  change: (count: FailureCount | undefined) => FailureCount | undefined,
  { store, now, stored }: { readonly store: Store; readonly now: number; readonly stored?: StoredFailureCount | undefined },
): Promise<StoredFailureCount> {
  const collection = collections.tracks(key.channel);
  const id = key.conversation;
  let found = stored ?? (await readFailureCount(key, store, now));
  const changed = await compareAndSet(async () => {
    const count = change(found.count);
    if (!count && found.rev === 0) return found;
    const rev = found.rev + 1;
    const content = { ...count } as unknown as JsonObject;
    const answer = count
      ? await store.putDocument({ collection, id, rev, content, expiresAt: now + keptForMs }, found.rev)
      : await store.removeDocument(collection, id, found.rev);
    if (answer.outcome === 'written') return count ? { rev, count } : { rev: 0, count: undefined };
    found = storedCountIn(answer.current ?? undefined, now);
    return 'lost';
  }, racesMax);
  if (changed === 'lost') throw new Error('Too many concurrent writes of one failure count.');
  return changed;
}

export const withFailure =
  (attempt: Attempt) =>
  (count: FailureCount | undefined): FailureCount => ({
    attempts: [...(count?.attempts ?? []), attempt].slice(-attemptsKept),
    failures: (count?.failures ?? 0) + 1,
  });

/** Adds the error to the attempt that began at `attempt.at`. */
export const withReason =
  (attempt: Attempt) =>
  (count: FailureCount | undefined): FailureCount => {
    const began = count?.attempts.findLastIndex((each) => isBegun(each, attempt.at)) ?? -1;
    return count && began >= 0 ? { ...count, attempts: count.attempts.with(began, attempt) } : withFailure(attempt)(count);
  };

/** Removes the attempt that began at `at`, because it is not a failure. */
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
