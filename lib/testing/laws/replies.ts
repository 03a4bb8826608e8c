import { workflowsAgent } from '#core/data/child-order';
import { generationOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { nodeAt } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, writerOf } from './law.ts';

/**
 * A reply counts once, and only for the outstanding request (S3, S5). A reply to an earlier attempt of the same effect counts, too, if the
 * outcome is unknown, if the step is being canceled, confirmed or undone, if its operation is `atMostOnce`, or if the step is a call.
 */
export const replies = (): Law => ({
  name: 'replies',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    // A write that only clears the outbox keeps the ids of the one before it.
    if (writerOf(after) === undefined || after.updatedAt === before.updatedAt) return undefined;
    const wrong = after.lastBy.find((requestId) => !isOutstanding(after.orderId, requestId, before.epoch, history));
    return wrong === undefined ? undefined : `order ${after.orderId} accepted a reply to ${wrong}, which is not outstanding`;
  }),
});

/** Whether the outcome is known now: the step has closed, is being undone, or keeps its reply until the order continues. */
function isOutcomeKnown({ instance }: Tracked, path: string): boolean {
  const activity = instance.state.activities[path];
  return !activity || activity.reply !== undefined || (activity.local as StepState).phase === 'undoing';
}

/** Whether the order waited for this reply. True also for ids that do not belong to a step. */
function isOutstanding(orderId: string, requestId: string, epoch: number, history: History): boolean {
  const path = stepOfRequest(orderId, requestId);
  const order = history.orders.get(orderId);
  if (path === undefined || !order) return true;
  const activity = order.before?.state.activities[path];
  const local = activity?.local as StepState | undefined;
  if (local?.mode !== undefined && generationOf(requestId) === local.generation && isOutcomeKnown(order, path)) return true;
  const node = order.program && nodeAt(order.program, path);
  const isSame = local !== undefined && !local.mode && generationOf(requestId) === local.generation;
  if (local?.phase === 'unknown' && activity?.awaitsPerson) return isSame;
  if (local?.phase !== 'requested') return false;
  if (isSame && node && 'atMostOnce' in node && node.atMostOnce) return true;
  // A called order ends once, so its reply belongs to the effect and not to one attempt.
  if (node && 'agent' in node && node.agent === workflowsAgent) return generationOf(requestId) === local.generation;
  return local.epoch === epoch && requestIdOf(orderId, path, local) === requestId;
}
