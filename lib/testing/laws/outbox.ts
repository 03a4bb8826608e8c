import { queueNames } from '#ports/messages';
import type { OutboxEntry } from '#ports/records';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** A status message may be dropped only after this time (15 minutes), if its queue is missing all the while. */
const undeliverableMs = 900_000;
const isOld = (entry: OutboxEntry, now: number): boolean =>
  entry.kind === 'status' && now - Date.parse(String(entry.message['at'])) >= undeliverableMs;

/** Longest delay of an announcement without faults. The supervisor would also send it, but much later. */
const atOnceMs = 10_000;

/** An entry leaves the outbox only after it was sent, and without faults it is sent at once (S26). */
export function outbox({ toleranceMs, standsStillMaxMs, now, quietSince, responseQueue }: Setting): Law {
  const sent = new Set<string>();
  // An order and the handler of its exception send messages to each other through the queue of submissions and the queue of wake-ups.
  const channels = new Set([responseQueue, queueNames.callReplies, queueNames.submissions, queueNames.wakeUps]);
  /** Time at which each announcement entered an outbox, if faults had ended before. */
  const waiting = new Map<string, number>();
  // A process that stood still when faults ended may do so a while longer.
  const isQuiet = (): boolean => now() > (quietSince() ?? Number.POSITIVE_INFINITY) + standsStillMaxMs;
  const startWaiting = (entry: OutboxEntry): void => {
    if (entry.kind === 'announcement' && isQuiet() && !waiting.has(entry.id)) waiting.set(entry.id, now());
  };
  const isSent = (entry: OutboxEntry, history: History): boolean =>
    isStored(entry) || (entry.kind === 'status' ? sent.has(JSON.stringify(entry.message)) : history.announced.has(entry.id));
  /** Whether the entry is a record to store, which is not a message. The laws about causes judge these records. */
  const isStored = ({ kind }: OutboxEntry): boolean => kind !== 'status' && kind !== 'announcement';
  return {
    name: 'outbox',
    after: on(['sent', 'published', 'written'], (observation, history) => {
      if (observation.type === 'published') {
        const since = waiting.get(observation.announcement.id) ?? now();
        waiting.delete(observation.announcement.id);
        return now() - since > atOnceMs ? `announcement ${observation.announcement.id} was sent only after ${now() - since} ms` : undefined;
      }
      if (observation.type === 'sent' && channels.has(observation.queue)) sent.add(observation.body);
      if (observation.type !== 'written' || !observation.before) return undefined;
      const { before, after } = observation;
      const previous = new Set(before.outbox.map(({ id }) => id));
      for (const entry of after.outbox) if (!previous.has(entry.id) && !history.announced.has(entry.id)) startWaiting(entry);
      const kept = new Set(after.outbox.map(({ id }) => id));
      const lost = before.outbox.find((entry) => !kept.has(entry.id) && !isSent(entry, history));
      const dropped = history.orders.get(after.orderId)?.newFacts.filter(({ type }) => type === 'ResponseUndeliverable').length ?? 0;
      const old = before.outbox.filter((entry) => !kept.has(entry.id) && isOld(entry, now() + toleranceMs)).length;
      if (dropped > old) return `order ${after.orderId} dropped ${dropped} status messages, but only ${old} are old enough`;
      if (!lost || dropped > 0) return undefined;
      return `outbox entry ${lost.id} was removed before it was sent`;
    }),
  };
}
