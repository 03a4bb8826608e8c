import type { ConsumerDefinition, OwnFailureCounts } from '#authoring/consumer';
import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Delivery } from '#ports/delivery';
import { collections, type Document, type Documents } from '#ports/documents';
import { consumerOf } from '#ports/messages';
import { compareAndSet } from '#ports/util/compare-and-set';
import { counted } from '#ports/util/text';
import { channelOf } from '#roles/channels/policy';
import { conversationOf } from './conversation.ts';
import type { Attempt } from './dead-letter.ts';

/** Failures to handle the messages of one conversation, with the last ten attempts, oldest first. */
export interface FailureCount {
  readonly attempts: readonly Attempt[];
  readonly failures: number;
}

/** A failure count as read, with the `rev` that the next write must give. */
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
  /**
   * Changes the count after an attempt that did not fail. Tries again after an outage: an attempt that stays in the count would be taken
   * for a crash.
   */
  correct(message: Message, change: CountChange, stored?: StoredFailureCount): Promise<void>;
  /** Removes the count of a message that was given up, if its consumer keeps counts itself: the dead-letter function cannot reach these. */
  givenUp(message: Message): Promise<void>;
}

type CountChange = (count: FailureCount | undefined) => FailureCount | undefined;

/** A failure count expires this long after its last write. */
const keptForMs = 86_400_000;
const attemptsKept = 10;
const racesMax = 25;
const correctionsMax = 4;
const correctionPauseMs = 100;

/**
 * Returns the rev with which a count begins. A success removes the count, and the next failure begins another one. If both began with the
 * same rev, a writer that has read the removed count could overwrite the new one. A count gets fewer than a thousand writes in a
 * millisecond, so its revs stay below that of a later count.
 */
const firstRev = (now: number): number => now * 1000;

/**
 * Error text of an attempt that has begun. After the attempt, the process replaces this text or removes the attempt, unless the process
 * crashes.
 */
export const noResult = 'Processing began, and no result was reported.';

interface CountPorts {
  readonly store: Documents;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** The consumers that this process runs, which may keep their counts themselves. */
  readonly consumers?: readonly ConsumerDefinition[];
}

export function createFailureCounts({ store, clock, consumers = [] }: CountPorts): FailureCounts {
  const placeOf = (message: Message) => ({ collection: collections.tracks(channelOf(message.queue)), id: conversationOf(message) });

  function documentsFor({ queue }: Message): Places {
    const own = consumers.find(({ name }) => name === consumerOf(queue))?.failureCounts;
    return own ? ownDocuments(own) : store;
  }

  async function read(message: Message): Promise<StoredFailureCount> {
    const { collection, id } = placeOf(message);
    return storedCountIn(await documentsFor(message).document(collection, id), clock.now());
  }

  const change: FailureCounts['change'] = async (message, apply, stored) => {
    const { collection, id } = placeOf(message);
    const documents = documentsFor(message);
    const now = clock.now();
    let found = stored ?? (await read(message));
    const changed = await compareAndSet(async () => {
      const count = apply(found.count);
      if (!count && found.rev === 0) return found;
      const rev = found.rev === 0 ? firstRev(now) : found.rev + 1;
      const content = { ...count } as unknown as JsonObject;
      const answer = count
        ? await documents.putDocument({ collection, id, rev, content, expiresAt: now + keptForMs }, found.rev)
        : await documents.removeDocument(collection, id, found.rev);
      if (answer.outcome === 'written') return count ? { rev, count } : { rev: 0, count: undefined };
      found = storedCountIn(answer.current ?? undefined, now);
      return 'lost';
    }, racesMax);
    if (changed === 'lost')
      throw new Error(
        'The failure of the message was not counted: other writes of the same count came first at every try. The message is redelivered.',
      );
    return changed;
  };

  return {
    read,
    change,
    async correct(message, apply, stored) {
      for (let tries = 1; ; tries++) {
        try {
          return void (await change(message, apply, stored));
        } catch (error) {
          if (tries === correctionsMax) throw error;
          await clock.sleep(tries * correctionPauseMs);
        }
      }
    },
    async givenUp(message) {
      if (documentsFor(message) !== store) await change(message, () => undefined);
    },
  };
}

export const withFailure =
  (attempt: Attempt) =>
  (count: FailureCount | undefined): FailureCount => ({
    attempts: [...(count?.attempts ?? []), attempt].slice(-attemptsKept),
    failures: (count?.failures ?? 0) + 1,
  });

/** Adds the error to the attempt that began at `attempt.at`. If the count lacks that attempt, counts a new failure. */
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
  attempts.at(-1)?.error === noResult
    ? `Processing began ${counted(failures, 'time')} without success. The last process stopped without a result.`
    : `Processing failed ${counted(failures, 'time')}.`;

type Places = Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;

/** Returns a consumer's own counts in the form of documents. */
function ownDocuments(own: OwnFailureCounts): Places {
  const document: Places['document'] = async (collection, id) => {
    const { rev, ...content } = (await own.read(id)) ?? { rev: 0 };
    return rev === 0 ? undefined : { collection, id, rev, content: content as unknown as JsonObject };
  };
  const answer = async (isWritten: boolean, collection: string, id: string): ReturnType<Places['putDocument']> =>
    isWritten ? { outcome: 'written' } : { outcome: 'refused', current: (await document(collection, id)) ?? null };
  return {
    document,
    putDocument: async ({ collection, id, rev, content }, loadedRev) =>
      answer(await own.write(id, { ...(content as unknown as FailureCount), rev }, loadedRev), collection, id),
    removeDocument: async (collection, id, rev) => answer(await own.write(id, undefined, rev), collection, id),
  };
}

const isBegun = (attempt: Attempt, at: number): boolean => attempt.at === at && attempt.error === noResult;

const storedCountIn = (document: Document | undefined, now: number): StoredFailureCount => {
  if (!document) return { rev: 0, count: undefined };
  const isExpired = (document.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  return { rev: document.rev, count: isExpired ? undefined : (document.content as unknown as FailureCount) };
};
