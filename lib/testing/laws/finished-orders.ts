import type { Law } from './law.ts';

/** A finished order begins nothing more, unless its caller compensates it (S6). */
export const finishedOrders = (): Law => ({
  name: 'finished orders',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal, caller }) => {
      const ended = journal.findIndex(({ type }) => type === 'OrderProcessed');
      if (ended < 0 || caller !== undefined) return [];
      const later = journal
        .slice(ended + 1)
        .filter(({ type }) => type === 'StepRequested' || type === 'ActivityStarted' || type === 'OrderProcessed');
      return later.map(({ type, seq }) => `order ${orderId}: ${type} was recorded after the order was finished (journal line ${seq})`);
    }),
});
