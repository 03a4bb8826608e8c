import { attemptOf, generationOf, stepOfRequest } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { nodeAt } from '#core/definition/program';
import { parseIncoming } from '#roles/scheduler/incoming';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { isForged, type Law, on, type Setting } from './law.ts';

/** A delivered reply that is not acknowledged yet, and the revision of its order at the delivery. */
interface OpenReply {
  readonly orderId: string;
  readonly requestId: string;
  readonly rev: number;
}

/**
 * While the outcome of an at-most-once step is unknown, no reply that reports its success is dropped, even for an earlier attempt (X-9,
 *
 */
export function unknownOutcomes(setting: Pick<Setting, 'forgedWord'>): Law {
  const open = new Map<string, OpenReply>();
  return {
    name: 'unknown outcomes',
    after: on(['delivered', 'sent', 'newer', 'damaged', 'acknowledged'], (observation, history) => {
      if (observation.type === 'delivered') addReplies(observation, open, history, setting);
      // The message was requeued or became a dead letter.
      if (observation.type === 'sent')
        for (const [body, { requestId }] of open) if (observation.body.includes(requestId)) open.delete(body);
      if (observation.type === 'newer' || observation.type === 'damaged')
        for (const [body, { orderId }] of open) if (observation.orderId === orderId) open.delete(body);
      if (observation.type !== 'acknowledged') return undefined;
      const { orderId = '', requestId = '', rev } = open.get(observation.body) ?? {};
      open.delete(observation.body);
      return rev !== undefined && history.orders.get(orderId)?.state.rev === rev
        ? `order ${orderId}: the reply that request ${requestId} succeeded was dropped while the outcome was unknown`
        : undefined;
    }),
  };
}

function addReplies(
  { queue, messages }: Extract<Observation, { type: 'delivered' }>,
  open: Map<string, OpenReply>,
  history: History,
  setting: Pick<Setting, 'forgedWord'>,
): void {
  for (const { body } of messages) {
    const message = isForged(body, setting) ? undefined : parseIncoming(body, queue);
    if (message?.incoming.type !== 'reply' || message.incoming.reply.status !== 'succeeded') continue;
    const { orderId } = message;
    const { requestId } = message.incoming;
    const order = history.orders.get(orderId);
    if (order && order.damagedAt === undefined && isOutcomeUnknown(order, requestId))
      open.set(body, { orderId, requestId, rev: order.state.rev });
  }
}

type Tracked = NonNullable<ReturnType<History['orders']['get']>>;

function isOutcomeUnknown({ orderId, program, instance }: Tracked, requestId: string): boolean {
  const path = stepOfRequest(orderId, requestId);
  const activity = path === undefined ? undefined : instance.state.activities[path];
  const local = activity?.local as StepState | undefined;
  if (path === undefined || !activity || activity.reply || !local || local.mode || !program) return false;
  const node = nodeAt(program, path);
  if (node.activity !== 'step' || !node.atMostOnce) return false;
  if (generationOf(requestId) !== local.generation || attemptOf(requestId) >= local.attempt) return false;
  return local.phase === 'requested' || (local.phase === 'unknown' && activity.awaitsPerson === true);
}
