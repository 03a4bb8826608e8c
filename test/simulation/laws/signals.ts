import type { Law } from './law.ts';

/** A signal that was let in counts exactly once, however often it was sent. */
export const signals = (): Law => ({
  name: 'signals',
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, journal, signals: accepted }) => {
      const applied = journal.filter(({ type }) => type === 'SignalReceived').length;
      return applied === accepted.size ? [] : [`${orderId} has let in ${accepted.size} signals, and its journal knows ${applied}`];
    }),
});
