import { isKindOf } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import { nodeAt } from '#core/definition/program';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

type Handled = Extract<CoreFact, { type: 'FaultHandled' }>;

/** The first handler that is declared for a fault takes the fault, after everything else in the scope of the handler has closed (S13). */
export function faultHandlers(): Law {
  /** Paths of open activities, by order. */
  const alive = new Map<string, Set<string>>();
  return {
    name: 'fault handlers',
    after: on(['written'], (observation, history) => {
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      const { orderId, newFacts } = order;
      const running = alive.get(orderId) ?? new Set<string>();
      alive.set(orderId, running);
      for (const fact of newFacts) {
        if (fact.type === 'ActivityStarted' || fact.type === 'StepRequested') running.add(fact.path);
        if (fact.type === 'ActivityClosed') running.delete(fact.path);
        if (fact.type !== 'FaultHandled') continue;
        const open = [...running].find((path) => path.startsWith(`${fact.path}/`) || path.startsWith(`${fact.path}[`));
        if (open !== undefined) return `order ${orderId}: a fault of ${fact.path} was handled while ${open} was still open`;
        const first = firstFor(order, fact);
        if (first !== fact.handler) return `order ${orderId}: fault ${fact.fault.type} was handled by ${fact.handler}, expected ${first}`;
      }
      return undefined;
    }),
  };
}

function firstFor({ program }: Tracked, { path, fault }: Handled): string | undefined {
  return program && nodeAt(program, path).faultHandlers?.find((handler) => isKindOf(fault.type, handler.fault))?.do.name;
}
