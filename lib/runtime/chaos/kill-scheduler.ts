import { agentOfReplies, queueNames } from '#ports/messages';
import type { Received } from '#ports/queues';
import { aboutOf, type CreateFault } from './fault.ts';

const isOfScheduler = (queue: string): boolean => queue === queueNames.wakeUps || agentOfReplies(queue) !== undefined;

/**
 * Stops the scheduler after the writes of its next run, before the messages of that run are acknowledged. After `ms`, the scheduler starts
 * again. The process itself continues, because it also runs the other roles.
 */
export const killScheduler: CreateFault = ({ ms, clock, happened, interrupt }) => {
  let life: 'first' | 'none' | 'next' = 'first';
  let awayUntil = Number.POSITIVE_INFINITY;
  const taken = new Map<string, Received>();
  let unacknowledged: ReadonlySet<string> = new Set();

  return {
    steps: [
      'The scheduler applies a message to its order, and is killed before it acknowledges the message.',
      `After ${ms / 1000} s the scheduler starts again, and takes messages.`,
      'The queue delivers the message of the first step again, after its visibility timeout, and the scheduler acknowledges it.',
    ],
    silences: (queue) => life === 'none' && clock.now() < awayUntil && isOfScheduler(queue),
    delivered(queue, message) {
      if (life === 'first' && isOfScheduler(queue)) taken.set(message.messageId, message);
      return undefined;
    },
    acknowledged(queue, { messageId, receiveCount, body }) {
      taken.delete(messageId);
      if (isOfScheduler(queue) && unacknowledged.has(messageId))
        happened(2, { orderId: aboutOf(body).orderId, note: `delivery ${receiveCount}` });
    },
    kills() {
      if (life === 'next') return false;
      if (life === 'first') {
        life = 'none';
        awayUntil = clock.now() + ms;
        unacknowledged = new Set(taken.keys());
        const [first] = taken.values();
        happened(0, { orderId: aboutOf(first?.body ?? '').orderId });
        interrupt();
      }
      // Runs of the scheduler that had begun before the kill end without an acknowledgement, too.
      return true;
    },
    restarts() {
      if (life !== 'none' || clock.now() < awayUntil) return false;
      life = 'next';
      happened(1);
      return true;
    },
  };
};
