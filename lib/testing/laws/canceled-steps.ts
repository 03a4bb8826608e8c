import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { isRunToConfirm } from '#core/engine/confirmation';
import type { AgentObservation } from '#testing/world/agent-event';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/**
 * A canceled step is not requested again before its deadline. Its agent does not report the cancellation while the operation runs (F-80).
 */
export function canceledSteps(): Law {
  /** Number of deliveries of each request. */
  const deliveries = new Map<string, number>();
  /** Request ids of running calls, by process and call. */
  const running = new Map<string, string>();
  return {
    name: 'canceled steps',
    after: on(['written', 'delivered', 'agent event', 'sent'], (observation, history) => {
      switch (observation.type) {
        case 'written': {
          const order = history.orders.get(observation.after.orderId);
          const path = order?.before && order.damagedAt === undefined ? requestedTooEarly(order) : undefined;
          return path && `order ${observation.after.orderId}: the canceled step ${path} was requested again before its deadline`;
        }
        case 'delivered':
          for (const { body } of observation.messages) {
            const requestId = requestIn(body);
            if (requestId !== undefined) deliveries.set(requestId, (deliveries.get(requestId) ?? 0) + 1);
          }
          return undefined;
        case 'agent event':
          if (observation.event.what === 'calls') running.set(callOf(observation, observation.event), observation.event.requestId);
          if (observation.event.what === 'call ended') running.delete(callOf(observation, observation.event));
          return undefined;
        case 'sent': {
          const requestId = canceledIn(observation.queue, observation.body);
          // Another process may be working on another delivery of the same request.
          if (requestId === undefined || deliveries.get(requestId) !== 1 || ![...running.values()].includes(requestId)) return undefined;
          return `request ${requestId} was reported as canceled while its operation was running`;
        }
      }
    }),
  };
}

/** Returns a key for a call. Each process numbers its own calls. */
const callOf = ({ host }: AgentObservation, { call }: { readonly call: number }): string => `${host} ${call}`;

const requestIn = (body: string): string | undefined =>
  body.includes('"type":"request"') ? /"requestId":"([^"]+)"/.exec(body)?.[1] : undefined;

const canceledIn = (queue: string, body: string): string | undefined =>
  queue.endsWith('-replies') && body.includes('"type":"Canceled"') && body.includes('"outcomeUnknown":true')
    ? /"requestId":"([^"]+)"/.exec(body)?.[1]
    : undefined;

/** Returns a step that this write requests again to confirm its outcome, although its canceled attempt may still run. */
function requestedTooEarly({ before, instance, program, newFacts }: Tracked): string | undefined {
  const isTooEarly = (path: string, at: number): boolean => {
    const previous = before?.state.activities[path]?.local as StepState | undefined;
    const local = instance.state.activities[path]?.local as StepState | undefined;
    const node = program && nodeAt(program, path);
    if (local?.mode !== 'confirm' || !node || !isRemote(node) || !isRunToConfirm(node)) return false;
    return previous?.mode === 'cancel' && previous.phase === 'requested' && at < previous.completeBy;
  };
  return newFacts.flatMap((fact) => (fact.type === 'StepRequested' && isTooEarly(fact.path, fact.at) ? [fact.path] : []))[0];
}
