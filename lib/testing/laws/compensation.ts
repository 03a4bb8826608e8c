import type { Fault } from '#core/data/fault';
import type { StepState } from '#core/data/step-state';
import { rootPath } from '#core/definition/definition';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

const isRefusal = ({ permanent, outcomeUnknown }: Fault): boolean => permanent && !outcomeUnknown;

/** S11, S12: nothing is undone that was refused, and while a whole order is undone nothing new is done. */
export function compensation(): Law {
  /** By order: steps whose last request was refused. */
  const refused = new Map<string, Set<string>>();
  return {
    name: 'compensation',
    after: on(['written', 'restored'], (observation, history) => {
      // A restored order does not know of refusals after its backup.
      if (observation.type === 'restored') {
        for (const orderId of observation.orders) refused.delete(orderId);
        return undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      const no = refused.get(order.orderId) ?? new Set<string>();
      refused.set(order.orderId, no);
      return doneMeanwhile(order) ?? undoesRefused(order, no);
    }),
  };
}

function undoesRefused({ orderId, news }: Tracked, refused: Set<string>): string | undefined {
  for (const fact of news) {
    if (fact.type === 'FaultRaised' && isRefusal(fact.fault) && fact.fault.source === fact.path) refused.add(fact.path);
    if (fact.type !== 'StepRequested' && fact.type !== 'UndoFailed') continue;
    if (!fact.path.endsWith('/undo')) refused.delete(fact.path);
    else if (refused.has(fact.path.slice(0, -'/undo'.length))) return `${orderId} undoes what was refused: ${fact.path}`;
  }
  return undefined;
}

function doneMeanwhile({ orderId, before, instance, news }: Tracked): string | undefined {
  if (before?.state.activities[rootPath]?.status !== 'Compensating') return undefined;
  const fresh = news.find(
    (fact) =>
      fact.type === 'StepRequested' &&
      !fact.path.endsWith('/undo') &&
      (instance.state.activities[fact.path]?.local as StepState | undefined)?.mode !== 'confirm',
  );
  return fresh && 'path' in fresh ? `${orderId} is being undone, and asks for ${fresh.path}` : undefined;
}
