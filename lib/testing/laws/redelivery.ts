import { isDeadLetterQueue } from '#ports/messages';
import { type Law, on } from './law.ts';

/** The longest delay of a failed message: less than the time limit of a step, so that no deadline expires. */
const invisibleMaxMs = 90_000;

/** A function makes each failed message visible again soon, whatever the visibility timeout of the queue (X-9, S14). */
export function redelivery(): Law {
  const visibleAfterMs = new Map<string, number>();
  return {
    name: 'redelivery',
    after: on(['visibility changed', 'answered'], (observation) => {
      if (observation.type === 'visibility changed') visibleAfterMs.set(observation.messageId, observation.afterMs);
      // No step waits for dead letters.
      if (observation.type !== 'answered' || isDeadLetterQueue(observation.queue)) return undefined;
      const hidden = observation.failed.find((id) => !((visibleAfterMs.get(id) ?? Number.POSITIVE_INFINITY) <= invisibleMaxMs));
      return hidden && `queue ${observation.queue}: the failed message ${hidden} stays invisible`;
    }),
  };
}
