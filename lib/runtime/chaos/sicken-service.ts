import { queueNames } from '#ports/messages';
import { aboutOf, type CreateFault } from './fault.ts';

/** Lets every call of an agent's service fail for a time. */
export const sickenService: CreateFault = ({ agent, ms, clock, happened }) => {
  const until = clock.now() + ms;
  let hasOpened = false;
  let hasClosed = false;

  return {
    steps: [
      `A call of the service behind ${agent} fails.`,
      'After five failures in a row, the agent opens its circuit breaker: it makes no more calls, and the time of the orders stands still.',
      `The service works again ${ms / 1000} s after the start. The agent finds that out with one call, a probe, and closes the breaker.`,
      'The orders that waited continue.',
    ],
    failsCallOf(called) {
      if (called !== agent || clock.now() >= until) return false;
      happened(0);
      return true;
    },
    breakerWritten({ agent: written, closedAt }) {
      if (written !== agent) return;
      if (closedAt === null) {
        if (clock.now() < until) hasOpened = true;
        if (hasOpened) happened(1);
      } else if (hasOpened) {
        hasClosed = true;
        happened(2);
      }
    },
    acknowledged(queue, { body }) {
      const { type, orderId } = aboutOf(body);
      if (hasClosed && queue === queueNames.replies(agent) && type === 'reply') happened(3, { orderId });
    },
  };
};
