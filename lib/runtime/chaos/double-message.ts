import { queueNames } from '#ports/messages';
import { aboutOf, type CreateFault } from './fault.ts';

/** Delivers one request to an agent twice, as a queue may. */
export const doubleMessage: CreateFault = ({ agent, happened }) => {
  let doubled: string | undefined;
  let requestsDone = 0;
  let repliesDone = 0;

  return {
    steps: [
      `The queue delivers one request to ${agent} twice.`,
      'The agent takes both. They have one idempotency key, so the service has the effect once.',
      'Two replies come back. The scheduler applies one and acknowledges both, so the order continues once.',
    ],
    delivered(queue, { body }) {
      const { type, requestId, orderId } = aboutOf(body);
      if (doubled !== undefined || queue !== queueNames.requests(agent) || type !== 'request') return undefined;
      doubled = requestId;
      happened(0, { orderId });
      return 'again';
    },
    acknowledged(queue, { body }) {
      const { type, requestId, orderId } = aboutOf(body);
      if (requestId === undefined || requestId !== doubled) return;
      if (queue === queueNames.requests(agent) && type === 'request') requestsDone += 1;
      if (queue === queueNames.replies(agent) && type === 'reply') repliesDone += 1;
      if (requestsDone >= 2) happened(1, { orderId });
      if (repliesDone >= 2) happened(2, { orderId });
    },
  };
};
