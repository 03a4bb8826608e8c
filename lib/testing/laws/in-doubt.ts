import { attemptOf, generationOf, stepOfRequest } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { nodeAt } from '#core/definition/program';
import { parseIncoming } from '#roles/scheduler/incoming';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { isForged, type Law, on, type Setting } from './law.ts';

/** An answer of which a function has not yet said what became of it, and the order as it stood when it came. */
interface Open {
  readonly orderId: string;
  readonly requestId: string;
  readonly rev: number;
}

/**
 * while nobody knows whether a step was done that runs at most once, or its order is blocked for that, no answer is thrown
 * away that says that it was, whichever attempt it is about.
 */
export function inDoubt(setting: Pick<Setting, 'forgedWord'>): Law {
  const open = new Map<string, Open>();
  return {
    name: 'in doubt',
    after: on(['delivered', 'sent', 'newer', 'damaged', 'acknowledged'], (observation, history) => {
      if (observation.type === 'delivered') note(observation, open, history, setting);
      // It is posted anew, or given up.
      if (observation.type === 'sent')
        for (const [body, { requestId }] of open) if (observation.body.includes(requestId)) open.delete(body);
      if (observation.type === 'newer' || observation.type === 'damaged')
        for (const [body, { orderId }] of open) if (observation.orderId === orderId) open.delete(body);
      if (observation.type !== 'acknowledged') return undefined;
      const { orderId = '', requestId = '', rev } = open.get(observation.body) ?? {};
      open.delete(observation.body);
      return rev !== undefined && history.orders.get(orderId)?.state.rev === rev
        ? `${requestId} says that it was done, and its order, which does not know that, does not hear of it`
        : undefined;
    }),
  };
}

function note(
  { queue, messages }: Extract<Observation, { type: 'delivered' }>,
  open: Map<string, Open>,
  history: History,
  setting: Pick<Setting, 'forgedWord'>,
): void {
  for (const { body } of messages) {
    const message = isForged(body, setting) ? undefined : parseIncoming(body, queue);
    if (message?.incoming.type !== 'reply' || message.incoming.reply.status !== 'succeeded') continue;
    const { orderId } = message;
    const { requestId } = message.incoming;
    const order = history.orders.get(orderId);
    if (order && order.damagedAt === undefined && isInDoubt(order, requestId)) open.set(body, { orderId, requestId, rev: order.state.rev });
  }
}

type Tracked = NonNullable<ReturnType<History['orders']['get']>>;

function isInDoubt({ orderId, program, instance }: Tracked, requestId: string): boolean {
  const path = stepOfRequest(orderId, requestId);
  const activity = path === undefined ? undefined : instance.state.activities[path];
  const own = activity?.local as StepState | undefined;
  if (path === undefined || !activity || activity.reply || !own || own.mode || !program) return false;
  const node = nodeAt(program, path);
  if (node.activity !== 'step' || !node.atMostOnce) return false;
  if (generationOf(requestId) !== own.generation || attemptOf(requestId) >= own.attempt) return false;
  return own.phase === 'requested' || (own.phase === 'unknown' && activity.awaitsPerson === true);
}
