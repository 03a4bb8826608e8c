import { type Law, on } from './law.ts';

/** S10: a key stands for one order: the same again is that order, another one is refused. */
export const submissions = (): Law => ({
  name: 'submissions',
  after: on(['submitted'], (happening, history) => {
    const { orderId, workflow, outcome } = happening;
    const stored = history.orders.get(orderId)?.state.workflow.name;
    if (outcome === 'accepted' && stored !== undefined && stored !== workflow)
      return `${orderId}, a ${stored}, is the answer to somebody who wants a ${workflow}`;
    return outcome === 'key-reused' && stored === workflow ? `${orderId} is refused to who submitted it` : undefined;
  }),
});
