import type { SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import type { Clock } from '#ports/clock';
import { queueFigures } from '#ports/limits';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type Backoff, backoffMs } from '#ports/util/backoff';

/** A request holds at most ten entries, and one MiB in all. */
const { batchMax, messageBytesMax: batchBytesMax } = queueFigures;
const attemptsMax = 4;
const pauseMs: Backoff = { first: 50, jitter: [0.5, 1] };

/** The failure of one entry of a batch. */
export interface Failure {
  readonly Id?: string | undefined;
  readonly SenderFault?: boolean | undefined;
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
}

/**
 * Sends entries in batches, and refused entries again, until all are accepted. Rejects after four attempts, or if SQS blames the sender.
 */
export async function inBatches<E extends { readonly Id?: string | undefined }>(
  clock: Clock,
  entries: readonly E[],
  split: (entries: readonly E[]) => readonly E[][],
  send: (batch: E[]) => Promise<readonly Failure[]>,
): Promise<void> {
  let open = entries;
  for (let attempt = 1; ; attempt++) {
    const failures = (await allSettledOrThrow(split(open).map(send))).flat();
    if (failures.length === 0) return;
    const [first] = failures;
    const isHopeless = failures.some(({ SenderFault }) => SenderFault);
    if (isHopeless || attempt === attemptsMax) {
      throw new Error(`the queue refused ${failures.length} of ${entries.length} entries: ${first?.Code}: ${first?.Message ?? ''}`);
    }
    const ids = new Set(failures.map(({ Id }) => Id));
    open = open.filter(({ Id }) => ids.has(Id));
    await clock.sleep(backoffMs(pauseMs, attempt, Math.random()));
  }
}

export function inTens<E>(entries: readonly E[]): E[][] {
  const tens: E[][] = [];
  for (let start = 0; start < entries.length; start += batchMax) tens.push(entries.slice(start, start + batchMax));
  return tens;
}

/** Splits entries into requests by size. An entry that is too large goes alone, so that SQS refuses only that one. */
export function bySize(entries: readonly SendMessageBatchRequestEntry[]): SendMessageBatchRequestEntry[][] {
  const batches: SendMessageBatchRequestEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const own = Buffer.byteLength(entry.MessageBody ?? '');
    const batch = batches.at(-1);
    if (batch && batch.length < batchMax && bytes + own <= batchBytesMax) {
      batch.push(entry);
      bytes += own;
    } else {
      batches.push([entry]);
      bytes = own;
    }
  }
  return batches;
}
