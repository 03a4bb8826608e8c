import { type EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import type { Announcement, Publisher } from '#ports/event-bus';

export interface EventBridgePublisherOptions {
  readonly client: EventBridgeClient;
  readonly bus: string;
}

/** The `source` of all announcements, for rules to match on. */
export const eventSource = 'redress';

const batchMax = 10;
/**
 * The size limit of a request. EventBridge now accepts more, but an announcement only names an order and an event. A larger announcement
 * is a mistake.
 */
const batchBytesMax = 256 * 1024;

/**
 * The event bus on EventBridge. Delivery is at least once and unordered, and EventBridge drops no duplicates. Subscribers deduplicate by
 * the `id` in the detail.
 */
export function eventBridgePublisher({ client, bus }: EventBridgePublisherOptions): Publisher {
  const entryOf = ({ id, detailType, detail }: Announcement): PutEventsRequestEntry => ({
    EventBusName: bus,
    Source: eventSource,
    DetailType: detailType,
    Detail: JSON.stringify({ id, ...detail }),
  });

  /** Sends a batch and returns the ids that failed. The call succeeds even if some of its entries fail. */
  async function put(batch: readonly Prepared[]): Promise<readonly string[]> {
    const { Entries = [], FailedEntryCount = 0 } = await client.send(new PutEventsCommand({ Entries: batch.map(({ entry }) => entry) }));
    if (FailedEntryCount === 0) return [];
    return batch.filter((_, index) => Entries[index]?.EventId === undefined).map(({ id }) => id);
  }

  return {
    async publish(announcements) {
      const prepared = announcements.map((announcement): Prepared => {
        const entry = entryOf(announcement);
        return { id: announcement.id, entry, bytes: bytesOf(entry) };
      });
      const oversize = prepared.filter(({ bytes }) => bytes > batchBytesMax).map(({ id }) => id);
      const batches = batchesOf(prepared.filter(({ bytes }) => bytes <= batchBytesMax));

      // Batches fail independently.
      const answers = await Promise.allSettled(batches.map(put));
      const [failure] = answers.filter((answer) => answer.status === 'rejected');
      if (failure && answers.every(({ status }) => status === 'rejected')) throw failure.reason;
      const failed = answers.flatMap((answer, index) =>
        answer.status === 'fulfilled' ? answer.value : (batches[index] ?? []).map(({ id }) => id),
      );
      return { failed: [...oversize, ...failed] };
    },
  };
}

interface Prepared {
  readonly id: string;
  readonly entry: PutEventsRequestEntry;
  readonly bytes: number;
}

/** Returns the size of an entry, as EventBridge counts it. */
const bytesOf = ({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number =>
  Buffer.byteLength(Source + DetailType + Detail);

function batchesOf(prepared: readonly Prepared[]): Prepared[][] {
  const batches: Prepared[][] = [];
  let total = Number.POSITIVE_INFINITY;
  for (const each of prepared) {
    const batch = batches.at(-1);
    if (batch && batch.length < batchMax && total + each.bytes <= batchBytesMax) {
      batch.push(each);
      total += each.bytes;
    } else {
      batches.push([each]);
      total = each.bytes;
    }
  }
  return batches;
}
