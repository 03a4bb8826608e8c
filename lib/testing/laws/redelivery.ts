import { type Law, on } from './law.ts';

/** Less than a step lives: what waits for the message must not be blamed for it. */
const shownMaxMs = 90_000;

/** X-9, S14: what a function could not process it has shown again soon, however long the queue would hide it. */
export function redelivery(): Law {
  const toBeShown = new Map<string, number>();
  return {
    name: 'redelivery',
    after: on(['visibility changed', 'answered'], (observation) => {
      if (observation.type === 'visibility changed') toBeShown.set(observation.messageId, observation.afterMs);
      // Nothing waits for the dead letters.
      if (observation.type !== 'answered' || observation.queue.endsWith('-dead')) return undefined;
      const hidden = observation.failed.find((id) => !((toBeShown.get(id) ?? Number.POSITIVE_INFINITY) <= shownMaxMs));
      return hidden && `${hidden} of ${observation.queue} is to come again, and stays hidden`;
    }),
  };
}
