import { type Law, on } from './law.ts';

/** An order keeps its version, and a process that is older than the order does not quarantine it (S20, X-35). */
export const olderProcesses = (): Law => ({
  name: 'older processes',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    const { name, version } = after.workflow;
    if (before.workflow.name !== name || before.workflow.version !== version)
      return `order ${after.orderId} changed its workflow to ${name}@${version}`;
    const entered = before.processState !== 'Error' && after.processState === 'Error';
    const isDamaged = history.orders.get(after.orderId)?.damagedAt !== undefined;
    return entered && !isDamaged && after.fault?.type === 'RecordUnreadable'
      ? `order ${after.orderId} was quarantined without damage: ${after.fault.message}`
      : undefined;
  }),
});
