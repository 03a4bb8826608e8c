import type { JournalEntry } from '#roles/scheduler/instance';
import type { Law } from './law.ts';

/** The facts that no order records after its end. A second `OrderProcessed` is one of them. */
const continuing: ReadonlySet<string> = new Set([
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

/** The decisions that a person may make about an exception of a finished order. */
const decisions: ReadonlySet<string> = new Set(['acknowledge', 'handle', 'restart']);

const isDecision = (fact: JournalEntry): boolean => fact.type === 'InstructionGiven' && decisions.has(fact.kind);

/** A finished order begins nothing more (law S6). Orders that another order has started are left out: their caller may compensate them. */
export const finishedOrders = (): Law => ({
  name: 'finished orders',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, state, journal, caller }) => {
      const ended = journal.findIndex(({ type }) => type === 'OrderProcessed');
      if (ended < 0 && state.processState === 'Processed') return [`order ${orderId} is finished, but its journal does not record the end`];
      if (ended < 0 || caller !== undefined) return [];
      const later = journal.slice(ended + 1).filter((fact) => continuing.has(fact.type) && !isDecision(fact));
      return later.map(({ type, seq }) => `order ${orderId}: ${type} was recorded after the order was finished (journal line ${seq})`);
    }),
});
