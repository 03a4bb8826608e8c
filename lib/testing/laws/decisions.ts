import { type Law, on } from './law.ts';

/** S4, L10: a decision is carried out on what was looked at, or not at all; and whoever took it is told which. */
export const decisions = (): Law => ({
  name: 'decisions',
  after: on(['decided'], (observation, history) => {
    const { orderId, reason, saw, answer } = observation;
    // What could not be read any more is not remembered either.
    if (answer.outcome === 'replayed' || history.orders.get(orderId)?.damagedAt !== undefined) return undefined;
    if (answer.outcome === 'done')
      return answer.rev === saw + 1
        ? undefined
        : `${orderId} was decided on as of rev ${saw}, and this was carried out as rev ${answer.rev}`;
    const isCarriedOut = history.orders.get(orderId)?.journal.some((fact) => fact.type === 'InstructionGiven' && fact.reason === reason);
    return isCarriedOut ? `${reason} on ${orderId} was carried out, and is answered: ${answer.outcome}` : undefined;
  }),
});
