import { type Law, on } from './law.ts';

/** S20, X-35: an order stays with the version with which it began, and is no person's business because a process is older than it. */
export const versions = (): Law => ({
  name: 'versions',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { name, version } = after.workflow;
    if (before.workflow.name !== name || before.workflow.version !== version) return `${after.orderId} is now one of ${name}@${version}`;
    const entered = before.processState !== 'Error' && after.processState === 'Error';
    const isDamaged = history.orders.get(after.orderId)?.damagedAt !== undefined;
    return entered && !isDamaged && after.fault?.type === 'RecordUnreadable'
      ? `${after.orderId} is in Error: ${after.fault.message}`
      : undefined;
  }),
});
