import type { StepState } from '#core/activities/step';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { isRunToConfirm } from '#core/engine/confirmation';
import type { Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/**
 * F-80: what was told to stop is not begun again before its time is over, and an agent does not say that it has given up while its
 * operation is at work.
 */
export function stopped(): Law {
  /** How often each request was delivered. */
  const deliveries = new Map<string, number>();
  /** Calls of services that are under way, with their requests. */
  const atWork = new Map<number, string>();
  return {
    name: 'stopped',
    after: on(['written', 'delivered', 'agent event', 'sent'], (observation, history) => {
      switch (observation.type) {
        case 'written': {
          const order = history.orders.get(observation.after.orderId);
          const path = order?.before && order.damagedAt === undefined ? begunAgain(order) : undefined;
          return path && `${observation.after.orderId} begins ${path} again, which was told to stop and may still be at work`;
        }
        case 'delivered':
          for (const { body } of observation.messages) {
            const requestId = requestIn(body);
            if (requestId !== undefined) deliveries.set(requestId, (deliveries.get(requestId) ?? 0) + 1);
          }
          return undefined;
        case 'agent event':
          if (observation.event.what === 'calls') atWork.set(observation.event.call, observation.event.requestId);
          if (observation.event.what === 'call ended') atWork.delete(observation.event.call);
          return undefined;
        case 'sent': {
          const requestId = givenUpIn(observation.queue, observation.body);
          // Another delivery of the same request may be at work in another process.
          if (requestId === undefined || deliveries.get(requestId) !== 1 || ![...atWork.values()].includes(requestId)) return undefined;
          return `${requestId} is said to be given up while it is at work`;
        }
      }
    }),
  };
}

const requestIn = (body: string): string | undefined =>
  body.includes('"type":"request"') ? /"requestId":"([^"]+)"/.exec(body)?.[1] : undefined;

const givenUpIn = (queue: string, body: string): string | undefined =>
  queue.endsWith('-replies') && body.includes('"type":"Canceled"') && body.includes('"outcomeUnknown":true')
    ? /"requestId":"([^"]+)"/.exec(body)?.[1]
    : undefined;

/** A step that this write settles by running it once more, too early. */
function begunAgain({ before, instance, program, news }: Tracked): string | undefined {
  const isTooEarly = (path: string, at: number): boolean => {
    const was = before?.state.activities[path]?.local as StepState | undefined;
    const own = instance.state.activities[path]?.local as StepState | undefined;
    const node = program && nodeAt(program, path);
    if (own?.mode !== 'confirm' || !node || !isRemote(node) || !isRunToConfirm(node)) return false;
    return was?.mode === 'cancel' && was.phase === 'requested' && at < was.completeBy;
  };
  return news.flatMap((fact) => (fact.type === 'StepRequested' && isTooEarly(fact.path, fact.at) ? [fact.path] : []))[0];
}
