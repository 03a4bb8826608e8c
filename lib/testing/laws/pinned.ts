import { isRemote } from '#core/definition/definition';
import type { History } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** S20: an order goes by the version of its workflow on which it began, whatever has come since. */
export const pinned = (): Law => ({
  name: 'pinned',
  after: on(['written'], (observation, history) => {
    const { before, after } = observation;
    const { orderId, workflow } = after;
    if (before && (before.workflow.name !== workflow.name || before.workflow.version !== workflow.version))
      return `${orderId} was a ${before.workflow.name}@${before.workflow.version} and is a ${workflow.name}@${workflow.version}`;
    const foreign = foreignStep(orderId, history);
    return foreign && `${orderId} is a ${workflow.name}@${workflow.version}, and asks for ${foreign}, which is no step of that`;
  }),
});

function foreignStep(orderId: string, history: History): string | undefined {
  const order = history.orders.get(orderId);
  if (!order) return undefined;
  const nodes = order.program?.nodes;
  return order.news
    .flatMap((fact) => (fact.type === 'StepRequested' ? [fact.path] : []))
    .find((path) => {
      const node = nodes?.get(path.replaceAll(/\[\d+\]/g, ''));
      return !node || !isRemote(node);
    });
}
