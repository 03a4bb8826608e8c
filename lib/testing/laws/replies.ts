import { workflowsAgent } from '#core/data/child-order';
import { generationOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { nodeAt } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, writerOf } from './law.ts';

/**
 * S3, S5: an answer counts only for the asking that is outstanding, or for one of the same effect where that is in doubt, or where
 * only that is wanted: it is canceled, settled or undone. And only once.
 */
export const replies = (): Law => ({
  name: 'replies',
  after: on(['written'], (observation, history) => {
    if (!observation.before) return undefined;
    const { before, after } = observation;
    // A write that only clears the outbox keeps the ids of the one before it.
    if (writerOf(after) === undefined || after.updatedAt === before.updatedAt) return undefined;
    const wrong = after.lastBy.find((requestId) => !isOutstanding(after.orderId, requestId, before.epoch, history));
    return wrong === undefined ? undefined : `${after.orderId} takes the answer to ${wrong}, which nobody waits for`;
  }),
});

/** It is over, its undo is at work, or its answer is kept until the order goes on. */
function isKnownNow({ instance }: Tracked, path: string): boolean {
  const activity = instance.state.activities[path];
  return !activity || activity.reply !== undefined || (activity.local as StepState).phase === 'undoing';
}

/** Also true of what is no answer to a step. */
function isOutstanding(orderId: string, requestId: string, epoch: number, history: History): boolean {
  const path = stepOfRequest(orderId, requestId);
  const order = history.orders.get(orderId);
  if (path === undefined || !order) return true;
  const activity = order.before?.state.activities[path];
  const own = activity?.local as StepState | undefined;
  if (own?.mode !== undefined && generationOf(requestId) === own.generation && isKnownNow(order, path)) return true;
  const node = order.program && nodeAt(order.program, path);
  const isSame = own !== undefined && !own.mode && generationOf(requestId) === own.generation;
  if (own?.phase === 'unknown' && activity?.awaitsPerson) return isSame;
  if (own?.phase !== 'requested') return false;
  if (isSame && node && 'atMostOnce' in node && node.atMostOnce) return true;
  // An order that was called ends once: its answer belongs to the effect, not to one asking.
  if (node && 'agent' in node && node.agent === workflowsAgent) return generationOf(requestId) === own.generation;
  return own.epoch === epoch && requestIdOf(orderId, path, own) === requestId;
}
