import { queues } from '../../../lib/messages.ts';
import type { OutboxEntry } from '../../../lib/record.ts';
import { type History, responseQueue } from '../history.ts';
import type { Law } from './law.ts';

/** S26: nothing leaves an outbox that has not gone out. */
export function outbox(): Law {
  const sent = new Set<string>();
  const isOut = (entry: OutboxEntry, history: History): boolean =>
    entry.kind === 'announcement' ? history.announced.has(entry.id) : sent.has(JSON.stringify(entry.message));
  return {
    name: 'outbox',
    after(happening, history) {
      if (happening.type === 'sent' && (happening.queue === responseQueue || happening.queue === queues.callReplies))
        sent.add(happening.body);
      if (happening.type !== 'written' || !happening.before) return undefined;
      const { before, after } = happening;
      const kept = new Set(after.outbox.map(({ id }) => id));
      const lost = before.outbox.find((entry) => !kept.has(entry.id) && !isOut(entry, history));
      if (!lost || history.orders.get(after.orderId)?.news.some(({ type }) => type === 'ResponseUndeliverable')) return undefined;
      return `${lost.id} leaves the outbox and was never sent`;
    },
  };
}
