import type { Law } from './law.ts';

/** A signal that was let in counts exactly once, however often it was sent. */
export const signals = (): Law => ({
  name: 'signals',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal, signals: accepted, unheard }) => {
      const applied = journal.filter(({ type }) => type === 'SignalReceived').length;
      if (applied >= accepted.size && applied <= accepted.size + unheard.size) return [];
      return [`${orderId} has let in ${accepted.size} signals, perhaps ${unheard.size} more, and its journal knows ${applied}`];
    }),
});
