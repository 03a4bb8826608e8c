import type { Law } from './law.ts';

/** An accepted signal is applied exactly once, however often it was sent. Rules send signals too. */
export const signals = (): Law => ({
  name: 'signals',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal, signals: accepted, unansweredSignals }) => {
      const ofRules = journal.filter((entry) => entry.type === 'RuleActed' && entry.action.kind === 'signal').length;
      const applied = journal.filter(({ type }) => type === 'SignalReceived').length - ofRules;
      if (applied >= accepted.size && applied <= accepted.size + unansweredSignals.size) return [];
      return [`order ${orderId} accepted ${accepted.size} signals, and perhaps ${unansweredSignals.size} more, but applied ${applied}`];
    }),
});
