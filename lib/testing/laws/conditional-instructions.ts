import { type Law, on } from './law.ts';

/** An instruction with `If-Match` is applied to exactly that revision or not at all. Its answer says which (S4, L10, X-40). */
export const conditionalInstructions = (): Law => ({
  name: 'conditional instructions',
  after: on(['decided'], (observation, history) => {
    const { orderId, reason, seenRev, answer } = observation;
    // A damaged record no longer tells which instructions were applied.
    if (answer.outcome === 'replayed' || history.orders.get(orderId)?.damagedAt !== undefined) return undefined;
    if (answer.outcome === 'done')
      return answer.rev === seenRev + 1
        ? undefined
        : `order ${orderId}: instruction ${reason} was for rev ${seenRev}, but was applied as rev ${answer.rev}`;
    const isApplied = history.orders.get(orderId)?.journal.some((fact) => fact.type === 'InstructionGiven' && fact.reason === reason);
    return isApplied ? `order ${orderId}: instruction ${reason} was applied, but its answer is ${answer.outcome}` : undefined;
  }),
});
