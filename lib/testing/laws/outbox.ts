import { queueNames } from '#ports/messages';
import type { OutboxEntry } from '#ports/records';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

const undeliverableMs = 900_000;
const isOld = (entry: OutboxEntry, now: number): boolean =>
  entry.kind === 'status' && now - Date.parse(String(entry.message['at'])) >= undeliverableMs;

/** While nothing goes wrong nobody waits longer for an alert, though the supervisor would look after it as well. */
const atOnceMs = 10_000;

/** S26: nothing leaves an outbox that has not gone out; and it goes out at once, where nothing is in the way. */
export function outbox({ toleranceMs, standsStillMaxMs, now, quietSince, responseQueue }: Setting): Law {
  const sent = new Set<string>();
  /** Since when an announcement lies in an outbox, if that was in quiet times. */
  const waiting = new Map<string, number>();
  // Who stood still when it became quiet may do so for a while yet.
  const isQuiet = (): boolean => now() > (quietSince() ?? Number.POSITIVE_INFINITY) + standsStillMaxMs;
  const waits = (entry: OutboxEntry): void => {
    if (entry.kind === 'announcement' && isQuiet() && !waiting.has(entry.id)) waiting.set(entry.id, now());
  };
  const isOut = (entry: OutboxEntry, history: History): boolean =>
    entry.kind === 'announcement' ? history.announced.has(entry.id) : sent.has(JSON.stringify(entry.message));
  return {
    name: 'outbox',
    after: on(['sent', 'published', 'written'], (observation, history) => {
      if (observation.type === 'published') {
        const since = waiting.get(observation.announcement.id) ?? now();
        waiting.delete(observation.announcement.id);
        return now() - since > atOnceMs ? `${observation.announcement.id} is announced only after ${now() - since} ms` : undefined;
      }
      if (observation.type === 'sent' && (observation.queue === responseQueue || observation.queue === queueNames.callReplies))
        sent.add(observation.body);
      if (observation.type !== 'written' || !observation.before) return undefined;
      const { before, after } = observation;
      const was = new Set(before.outbox.map(({ id }) => id));
      for (const entry of after.outbox) if (!was.has(entry.id) && !history.announced.has(entry.id)) waits(entry);
      const kept = new Set(after.outbox.map(({ id }) => id));
      const lost = before.outbox.find((entry) => !kept.has(entry.id) && !isOut(entry, history));
      const given = history.orders.get(after.orderId)?.news.filter(({ type }) => type === 'ResponseUndeliverable').length ?? 0;
      const old = before.outbox.filter((entry) => !kept.has(entry.id) && isOld(entry, now() + toleranceMs)).length;
      if (given > old) return `${after.orderId} says that it has given up ${given} messages, and may give up ${old}`;
      if (!lost || given > 0) return undefined;
      return `${lost.id} leaves the outbox and was never sent`;
    }),
  };
}
