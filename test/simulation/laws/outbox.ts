import { queues } from '../../../lib/messages.ts';
import type { OutboxEntry } from '../../../lib/record.ts';
import { type History, responseQueue } from '../history.ts';
import { type Law, on, type Times } from './law.ts';

const undeliverableMs = 900_000;
const isOld = (entry: OutboxEntry, now: number): boolean =>
  entry.kind === 'status' && now - Date.parse(String(entry.message['at'])) >= undeliverableMs;

/** S26: nothing leaves an outbox that has not gone out. */
export function outbox({ toleranceMs, now }: Times): Law {
  const sent = new Set<string>();
  const isOut = (entry: OutboxEntry, history: History): boolean =>
    entry.kind === 'announcement' ? history.announced.has(entry.id) : sent.has(JSON.stringify(entry.message));
  return {
    name: 'outbox',
    after: on(['sent', 'written'], (happening, history) => {
      if (happening.type === 'sent' && (happening.queue === responseQueue || happening.queue === queues.callReplies))
        sent.add(happening.body);
      if (happening.type !== 'written' || !happening.before) return undefined;
      const { before, after } = happening;
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
