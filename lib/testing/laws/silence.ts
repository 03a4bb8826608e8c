import type { Law } from './law.ts';

/** The facts of an order that goes on. */
const begins: ReadonlySet<string> = new Set([
  'StepRequested',
  'ActivityStarted',
  'ActivityClosed',
  'FaultRaised',
  'FaultHandled',
  'OrderClaimed',
  'OrderBlocked',
  'OrderProcessed',
  'InstructionGiven',
  'SignalReceived',
]);

/** S6: once an order is finished nothing of it begins any more, unless the one that called it takes it back. */
export const silence = (): Law => ({
  name: 'silence',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, state, journal, caller }) => {
      const ended = journal.findIndex(({ type }) => type === 'OrderProcessed');
      if (ended < 0 && state.processState === 'Processed') return [`${orderId} is finished, and its journal has no end`];
      if (ended < 0 || caller !== undefined) return [];
      const later = journal.slice(ended + 1).filter(({ type }) => begins.has(type));
      return later.map(({ type, seq }) => `${orderId} is finished, and then its journal says ${type} (line ${seq})`);
    }),
});
