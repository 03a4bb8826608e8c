import type { Law } from './law.ts';

const isTerminal = (status: string): boolean => status === 'completed' || status === 'failed';

/** The first status message of an order is `received`, and the last says how the order ended. No number is used twice (S18). */
export const statusSequence = (): Law => ({
  name: 'status sequence',
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, state, journal, statuses: sent }) => {
      const bySeq = new Map(sent.map(({ seq, status }) => [seq, status]));
      const received = [...bySeq].sort(([one], [other]) => one - other).map(([, status]) => status);
      const conflicting = sent.filter(({ seq, status }) => bySeq.get(seq) !== status);
      const expected = state.responseChannel === null ? 0 : state.statusSeq;
      // The client's queue was missing, so messages were dropped with a journal entry.
      const isIncomplete = journal.some(({ type }) => type === 'ResponseUndeliverable');
      const terminal = received.findIndex(isTerminal);
      return [
        ...(received.length === expected || (received.length < expected && isIncomplete)
          ? []
          : [`order ${orderId} sent ${received.length} status messages, expected ${expected}`]),
        ...(received.length > 0 && received[0] !== 'received' && !isIncomplete
          ? [`order ${orderId}: its first status message was ${received[0]}`]
          : []),
        ...(terminal >= 0 && terminal < received.length - 1
          ? [`order ${orderId} sent status messages after its end: ${received.join(', ')}`]
          : []),
        ...(terminal >= 0 && state.processState !== 'Processed'
          ? [`order ${orderId} reported its end to its client but is ${state.processState}`]
          : []),
        ...(expected > 0 && terminal < 0 && !isIncomplete && state.processState === 'Processed'
          ? [`order ${orderId} never reported its end to its client`]
          : []),
        ...conflicting.map(({ seq }) => `order ${orderId} sent two different status messages with number ${seq}`),
      ];
    }),
});
