import { wholeJournal } from '#roles/scheduler/step-report';
import { type Law, on } from './law.ts';

/** S5: every line of a journal is written once, has the number behind the one before it, never changes, and stays. */
export function journal(): Law {
  const lines = new Map<string, Map<number, string>>();
  return {
    name: 'journal',
    after: on(['written'], (observation, history) => {
      const { before, after } = observation;
      const { orderId } = after;
      const order = history.orders.get(orderId);
      // What only touches the attributes on top leaves the journal as it is.
      if (!order || order.damagedAt !== undefined || before?.blob === after.blob) return undefined;
      const known = lines.get(orderId) ?? new Map<number, string>();
      lines.set(orderId, known);
      const { tail, seq } = order.instance;
      for (const entry of tail) {
        const text = JSON.stringify(entry);
        const before = known.get(entry.seq);
        if (before === undefined && entry.seq !== known.size + 1)
          return `${orderId}: line ${known.size} of the journal is followed by ${entry.seq}`;
        if (before !== undefined && before !== text) return `${orderId}: line ${entry.seq} of the journal was ${before} and is ${text}`;
        known.set(entry.seq, text);
      }
      return seq === known.size ? undefined : `${orderId}: the journal has ${known.size} lines and says ${seq}`;
    }),
    atEnd: (history) =>
      history.sound.flatMap(({ orderId, instance }) => {
        const kept = wholeJournal(history.pages.get(orderId) ?? [], instance.tail);
        const written = lines.get(orderId)?.size ?? 0;
        return kept.length === written ? [] : [`${orderId} has written ${written} lines of its journal, and has ${kept.length} left`];
      }),
  };
}
