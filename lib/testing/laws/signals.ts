import type { Law } from './law.ts';

/** An accepted signal is applied exactly once, however often it was sent. */
export const signals = (): Law => ({
  name: 'signals',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal, signals: accepted, unansweredSignals }) => {
      const applied = journal.filter(({ type }) => type === 'SignalReceived').length;
      if (applied >= accepted.size && applied <= accepted.size + unansweredSignals.size) return [];
      return [`order ${orderId} accepted ${accepted.size} signals, and perhaps ${unansweredSignals.size} more, but applied ${applied}`];
    }),
});
