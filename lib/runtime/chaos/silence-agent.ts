import { queueNames } from '#ports/messages';
import { aboutOf, type CreateFault } from './fault.ts';

/** Keeps an agent from taking requests for a time, as if its process were away. */
export const silenceAgent: CreateFault = ({ agent, ms, clock, happened, interrupt }) => {
  const until = clock.now() + ms;
  let hasWaited = false;
  const taken = new Set<string | undefined>();
  interrupt();

  return {
    steps: [
      `A request waits, because ${agent} takes none for ${ms / 1000} s.`,
      'The step has no reply within its time limit, so the supervisor wakes the order, and the scheduler requests the step again.',
      'The agent takes requests again, and the scheduler continues the order with its reply.',
    ],
    silences: (queue) => queue === queueNames.requests(agent) && clock.now() < until,
    waits() {
      hasWaited = true;
      happened(0);
    },
    delivered(queue, { body }) {
      const { type, attempt = 1, orderId } = aboutOf(body);
      if (!hasWaited || queue !== queueNames.requests(agent) || type !== 'request') return undefined;
      taken.add(orderId);
      if (attempt > 1) happened(1, { orderId, note: `attempt ${attempt}` });
      return undefined;
    },
    acknowledged(queue, { body }) {
      const { type, orderId, attempt } = aboutOf(body);
      if (queue !== queueNames.replies(agent) || type !== 'reply' || !taken.has(orderId)) return;
      if (attempt === 1) happened(1, { orderId, note: 'not needed: the step had time left' });
      happened(2, { orderId });
    },
  };
};
