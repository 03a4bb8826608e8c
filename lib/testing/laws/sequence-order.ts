import { parentOf } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** A step is requested only after all activities before it have closed, in the workflow version of the order (S20). */
export const sequenceOrder = (): Law => ({
  name: 'sequence order',
  after: on(['written'], ({ after: { orderId } }, history) => {
    const order = history.orders.get(orderId);
    if (!order || order.damagedAt !== undefined) return undefined;
    for (const fact of order.newFacts) {
      const before = fact.type === 'StepRequested' ? openBefore(fact.path, order) : undefined;
      if (before !== undefined)
        return `order ${orderId}: step ${fact.type === 'StepRequested' ? fact.path : ''} was requested before ${before} closed`;
    }
    return undefined;
  }),
  atEnd: (history: History) =>
    [...history.orders.values()].flatMap((order) => {
      const skipped = order.state.outcome === 'completed' && order.damagedAt === undefined ? skippedIn(order) : undefined;
      return skipped === undefined ? [] : [`order ${order.orderId} is completed, but ${skipped} never closed`];
    }),
});

const nodesOf = ({ program }: Tracked) => program?.nodes;

/** Returns an activity that has not closed, and comes earlier in the sequence of the step or in an enclosing one. */
function openBefore(path: string, order: Tracked): string | undefined {
  const nodes = nodesOf(order);
  // The steps of a loop are not checked: the activities before them close once in each turn.
  if (path.includes('[')) return undefined;
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
    const parentPath = parentOf(at);
    const parent = parentPath === undefined ? undefined : nodes?.get(parentPath);
    if (parent?.activity !== 'sequence') continue;
    const place = parent.children.findIndex(({ name }) => `${parentPath}/${name}` === at);
    const open = parent.children.slice(0, Math.max(0, place)).find((child) => !isClosed(`${parentPath}/${child.name}`, order));
    if (open) return `${parentPath}/${open.name}`;
  }
  return undefined;
}

/** Returns an activity of the root sequence that never closed, unless a handler ended the sequence. */
function skippedIn(order: Tracked): string | undefined {
  if (order.journal.some(({ type }) => type === 'FaultHandled')) return undefined;
  const root = nodesOf(order)?.get('order');
  return root?.activity === 'sequence' ? root.children.find((child) => !isClosed(`order/${child.name}`, order))?.name : undefined;
}

const isClosed = (path: string, { journal }: Tracked): boolean =>
  journal.some((fact) => fact.type === 'ActivityClosed' && fact.path === path);
