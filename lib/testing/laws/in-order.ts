import { parentOf } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** S20: a step is asked for when what stands before it in its sequence is done, in the definition with which the order began. */
export const inOrder = (): Law => ({
  name: 'in order',
  after: on(['written'], ({ after: { orderId } }, history) => {
    const order = history.orders.get(orderId);
    if (!order || order.damagedAt !== undefined) return undefined;
    for (const fact of order.news) {
      const before = fact.type === 'StepRequested' ? undoneBefore(fact.path, order) : undefined;
      if (before !== undefined) return `${orderId} asks for ${fact.type === 'StepRequested' ? fact.path : ''} before ${before} is done`;
    }
    return undefined;
  }),
  atEnd: (history: History) =>
    [...history.orders.values()].flatMap((order) => {
      const left = order.state.outcome === 'completed' && order.damagedAt === undefined ? leftOut(order) : undefined;
      return left === undefined ? [] : [`${order.orderId} is completed without ${left}`];
    }),
});

const nodesOf = ({ program }: Tracked) => program?.nodes;

/** A sibling before it, or before what is around it that has never closed. */
function undoneBefore(path: string, order: Tracked): string | undefined {
  const nodes = nodesOf(order);
  if (path.includes('[')) return undefined;
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
    const around = parentOf(at);
    const parent = around === undefined ? undefined : nodes?.get(around);
    if (parent?.activity !== 'sequence') continue;
    const place = parent.children.findIndex(({ name }) => `${around}/${name}` === at);
    const open = parent.children.slice(0, Math.max(0, place)).find((child) => !isClosed(`${around}/${child.name}`, order));
    if (open) return `${around}/${open.name}`;
  }
  return undefined;
}

/** Of what is not called off by a handler, everything in the root's own sequence. */
function leftOut(order: Tracked): string | undefined {
  if (order.journal.some(({ type }) => type === 'FaultHandled')) return undefined;
  const root = nodesOf(order)?.get('order');
  return root?.activity === 'sequence' ? root.children.find((child) => !isClosed(`order/${child.name}`, order))?.name : undefined;
}

const isClosed = (path: string, { journal }: Tracked): boolean =>
  journal.some((fact) => fact.type === 'ActivityClosed' && fact.path === path);
