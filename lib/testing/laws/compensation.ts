import type { Fault } from '#core/data/fault';
import type { StepState } from '#core/data/step-state';
import { rootPath } from '#core/definition/definition';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

const isCertainFailure = ({ permanent, outcomeUnknown }: Fault): boolean => permanent && !outcomeUnknown;

/** A step whose last request failed for good, with a known outcome, is not undone. While a whole order is compensated, no new step begins (S11, S12). */
export function compensation(): Law {
  /** Paths of the steps whose last request failed for good, by order. */
  const failed = new Map<string, Set<string>>();
  return {
    name: 'compensation',
    after: on(['written', 'restored'], (observation, history) => {
      // A restored order does not know of failures after its backup.
      if (observation.type === 'restored') {
        for (const orderId of observation.orders) failed.delete(orderId);
        return undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      const paths = failed.get(order.orderId) ?? new Set<string>();
      failed.set(order.orderId, paths);
      return newWork(order) ?? undoOfFailedStep(order, paths);
    }),
  };
}

function undoOfFailedStep({ orderId, newFacts }: Tracked, failed: Set<string>): string | undefined {
  for (const fact of newFacts) {
    if (fact.type === 'FaultRaised' && isCertainFailure(fact.fault) && fact.fault.source === fact.path) failed.add(fact.path);
    if (fact.type !== 'StepRequested' && fact.type !== 'UndoFailed') continue;
    if (!fact.path.endsWith('/undo')) failed.delete(fact.path);
    else if (failed.has(fact.path.slice(0, -'/undo'.length))) return `order ${orderId}: ${fact.path} undoes a step that failed for good`;
  }
  return undefined;
}

function newWork({ orderId, before, instance, newFacts }: Tracked): string | undefined {
  if (before?.state.activities[rootPath]?.status !== 'Compensating') return undefined;
  const requested = newFacts.find(
    (fact) =>
      fact.type === 'StepRequested' &&
      !fact.path.endsWith('/undo') &&
      (instance.state.activities[fact.path]?.local as StepState | undefined)?.mode !== 'confirm',
  );
  return requested && 'path' in requested
    ? `order ${orderId}: step ${requested.path} was requested while the order was being compensated`
    : undefined;
}
