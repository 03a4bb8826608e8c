import { isRemote } from '#core/definition/definition';
import type { History } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** An order runs on the workflow version with which it began, or to which a person has moved it (S20). */
export const pinnedVersions = (): Law => ({
  name: 'pinned versions',
  after: on(['written'], (observation, history) => {
    const { before, after } = observation;
    const { orderId, workflow } = after;
    const isMigrated = history.orders.get(orderId)?.newFacts.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'migrate');
    if (before && !isMigrated && (before.workflow.name !== workflow.name || before.workflow.version !== workflow.version))
      return `order ${orderId} changed from ${before.workflow.name}@${before.workflow.version} to ${workflow.name}@${workflow.version}`;
    const foreign = foreignStep(orderId, history);
    return foreign && `order ${orderId} requested ${foreign}, which is not a step of ${workflow.name}@${workflow.version}`;
  }),
});

function foreignStep(orderId: string, history: History): string | undefined {
  const order = history.orders.get(orderId);
  if (!order) return undefined;
  const nodes = order.program?.nodes;
  const ruled = new Set(Object.keys(order.instance.state.ruledUndos ?? {}).map((path) => `${path}/undo`));
  return order.newFacts
    .flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []))
    .find((path) => {
      const defined = path.replaceAll(/\[\d+\]/g, '');
      const node = nodes?.get(defined);
      // A rule may have given an undo to a step that has none in this version.
      return !(node && isRemote(node)) && !ruled.has(defined);
    });
}
