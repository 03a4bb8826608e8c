import { isRemote } from '#core/definition/definition';
import type { History } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** An order runs on the workflow version with which it began (S20). */
export const pinnedVersions = (): Law => ({
  name: 'pinned versions',
  after: on(['written'], (observation, history) => {
    const { before, after } = observation;
    const { orderId, workflow } = after;
    if (before && (before.workflow.name !== workflow.name || before.workflow.version !== workflow.version))
      return `order ${orderId} changed from ${before.workflow.name}@${before.workflow.version} to ${workflow.name}@${workflow.version}`;
    const foreign = foreignStep(orderId, history);
    return foreign && `order ${orderId} requested ${foreign}, which is not a step of ${workflow.name}@${workflow.version}`;
  }),
});

function foreignStep(orderId: string, history: History): string | undefined {
  const order = history.orders.get(orderId);
  if (!order) return undefined;
  const nodes = order.program?.nodes;
  return order.newFacts
    .flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []))
    .find((path) => {
      const node = nodes?.get(path.replaceAll(/\[\d+\]/g, ''));
      return !node || !isRemote(node);
    });
}
