import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Delivery } from '#ports/delivery';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import { channelOf } from '#roles/channels/policy';
import { conversationOf } from './conversation.ts';
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

/** An attempt that is counted before it is made, because a process that crashes cannot count it afterwards. */
export interface StartedAttempt {
  readonly at: number;
  readonly counts: StoredFailureCount;
}

type Message = Pick<Delivery, 'queue' | 'messageId' | 'body'>;

/** The failure counts of conversations. */
export interface FailureCounts {
  /** Reads the count of the message's conversation. */
  read(message: Message): Promise<StoredFailureCount>;
  /**
   * Applies `change` to the count of the message's conversation and writes the result. After a lost race it applies `change` to the
   * winning record. `stored`: the count as it was read before.
   */
  change(message: Message, change: CountChange, stored?: StoredFailureCount): Promise<StoredFailureCount>;
}

type CountChange = (count: FailureCount | undefined) => FailureCount | undefined;

/** A failure count expires this long after its last failure. */
const keptForMs = 86_400_000;
const attemptsKept = 10;
const racesMax = 25;

/** Error of an attempt that has begun. The process replaces or removes it after the attempt, unless it crashes. */
export const noFailures = 'Processing began, and no result was reported.';

export function createFailureCounts({ store, clock }: { readonly store: Documents; readonly clock: Pick<Clock, 'now'> }): FailureCounts {
  const placeOf = (message: Message) => ({ collection: collections.tracks(channelOf(message.queue)), id: conversationOf(message) });

  async function read(message: Message): Promise<StoredFailureCount> {
    const { collection, id } = placeOf(message);
    return storedCountIn(await store.document(collection, id), clock.now());
  }

  return {
    read,
    async change(message, change, stored) {
      const { collection, id } = placeOf(message);
      const now = clock.now();
      let found = stored ?? (await read(message));
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
      if (changed === 'lost') throw new Error('Other writes of the same failure count won all races. The message is redelivered.');
      return changed;
    },
  };
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

/** Returns the reason of a dead letter, without the errors: their texts may quote the message. */
export const failuresText = ({ attempts, failures }: FailureCount): string =>
  attempts.at(-1)?.error === noFailures
    ? `Processing began ${failures} times without success. The last process stopped without a result.`
    : `Processing failed ${failures} times.`;

const isBegun = (attempt: Attempt, at: number): boolean => attempt.at === at && attempt.error === noFailures;

const storedCountIn = (document: Document | undefined, now: number): StoredFailureCount => {
  if (!document) return { rev: 0, count: undefined };
  const isOver = (document.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  return { rev: document.rev, count: isOver ? undefined : (document.content as unknown as FailureCount) };
};
