import type { Law } from './law.ts';

const isTerminal = (status: string): boolean => status === 'completed' || status === 'failed';

/** S18: the client hears that its order was received, and once how it ended; nothing under one number is said in two ways. */
export const statuses = (): Law => ({
  name: 'statuses',
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, state, journal, statuses: sent }) => {
      const bySeq = new Map(sent.map(({ seq, status }) => [seq, status]));
      const told = [...bySeq].sort(([one], [other]) => one - other).map(([, status]) => status);
      const twice = sent.filter(({ seq, status }) => bySeq.get(seq) !== status);
      const wanted = state.responseChannel === null ? 0 : state.statusSeq;
      // His queue was gone: what could not be sent for long is given up, and the journal says so.
      const isGone = journal.some(({ type }) => type === 'ResponseUndeliverable');
      const terminal = told.findIndex(isTerminal);
      return [
        ...(told.length === wanted || (told.length < wanted && isGone)
          ? []
          : [`${orderId} has told its client ${told.length} things instead of ${wanted}`]),
        ...(told.length > 0 && told[0] !== 'received' && !isGone ? [`${orderId} tells its client ${told[0]} first`] : []),
        ...(terminal >= 0 && terminal < told.length - 1 ? [`${orderId} tells its client more after its end: ${told.join(', ')}`] : []),
        ...(terminal >= 0 && state.processState !== 'Processed' ? [`${orderId} says that it has ended, and is ${state.processState}`] : []),
        ...(wanted > 0 && terminal < 0 && !isGone && state.processState === 'Processed'
          ? [`${orderId} never tells its client how it ended`]
          : []),
        ...twice.map(({ seq }) => `${orderId} says two things under number ${seq}`),
      ];
    }),
});
