import { queueNames } from '#ports/messages';
import { type About, aboutOf, type CreateFault } from './fault.ts';

/** Loses the next reply of an agent. */
export const dropReply: CreateFault = ({ agent, happened }) => {
  let lost: Partial<About> | undefined;
  const keys = new Map<string | undefined, string | undefined>();
  const isOfStep = ({ orderId, path }: Partial<About>): boolean => lost !== undefined && orderId === lost.orderId && path === lost.path;

  return {
    steps: [
      `A reply of ${agent} gets lost on its way to the scheduler.`,
      'The step has no reply within its time limit, so the supervisor wakes the order. The scheduler requests the step again, under the same idempotency key.',
      'The agent replies again, and the scheduler continues the order.',
    ],
    loses({ queue, body }) {
      const about = aboutOf(body);
      if (lost || queue !== queueNames.replies(agent) || about.type !== 'reply') return false;
      lost = about;
      happened(0, { orderId: about.orderId });
      return true;
    },
    delivered(queue, { body }) {
      if (queue !== queueNames.requests(agent)) return undefined;
      const about = aboutOf(body);
      const { requestId, idempotencyKey, attempt, orderId } = about;
      const keyBefore = keys.get(lost?.requestId);
      if (!lost) keys.set(requestId, idempotencyKey);
      // The key of a request that was delivered before the experiment began is not known.
      else if (isOfStep(about) && requestId !== lost.requestId && (keyBefore ?? idempotencyKey) === idempotencyKey)
        happened(1, { orderId, note: `attempt ${attempt}` });
      return undefined;
    },
    acknowledged(queue, { body }) {
      const about = aboutOf(body);
      if (queue === queueNames.replies(agent) && about.type === 'reply' && isOfStep(about)) happened(2, about);
    },
  };
};
