import { wholeJournal } from '#roles/scheduler/step-report';
import { type Law, on } from './law.ts';

/** Each journal line is written once, with consecutive numbers, and never changes or disappears (S5). */
export function journal(): Law {
  const lines = new Map<string, Map<number, string>>();
  return {
    name: 'journal',
    after: on(['written'], (observation, history) => {
      const { before, after } = observation;
      const { orderId } = after;
      const order = history.orders.get(orderId);
      // A write of attributes alone does not change the journal.
      if (!order || order.damagedAt !== undefined || before?.blob === after.blob) return undefined;
      const known = lines.get(orderId) ?? new Map<number, string>();
      lines.set(orderId, known);
      const { tail, seq } = order.instance;
      for (const entry of tail) {
        const text = JSON.stringify(entry);
        const before = known.get(entry.seq);
        if (before === undefined && entry.seq !== known.size + 1)
          return `order ${orderId}: journal line ${known.size} was followed by ${entry.seq}`;
        if (before !== undefined && before !== text) return `order ${orderId}: journal line ${entry.seq} changed from ${before} to ${text}`;
        known.set(entry.seq, text);
      }
      return seq === known.size ? undefined : `order ${orderId}: the journal has ${known.size} lines, but the record counts ${seq}`;
    }),
    atEnd: (history) =>
      history.sound.flatMap(({ orderId, instance }) => {
        const kept = wholeJournal(history.pages.get(orderId) ?? [], instance.tail);
        const written = lines.get(orderId)?.size ?? 0;
        return kept.length === written ? [] : [`order ${orderId}: ${written} journal lines were written, but ${kept.length} are stored`];
      }),
  };
}
