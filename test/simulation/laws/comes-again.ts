import { type Law, on } from './law.ts';

/** Less than a step lives: what waits for the message must not be blamed for it. */
const shownMaxMs = 90_000;

/** X-9, S14: what a function could not process it has shown again soon, however long the queue would hide it. */
export function comesAgain(): Law {
  const toBeShown = new Map<string, number>();
  return {
    name: 'comes again',
    after: on(['to be shown', 'answered'], (happening) => {
      if (happening.type === 'to be shown') toBeShown.set(happening.messageId, happening.afterMs);
      // Nothing waits for the dead letters.
      if (happening.type !== 'answered' || happening.queue.endsWith('-dead')) return undefined;
      const hidden = happening.failed.find((id) => !((toBeShown.get(id) ?? Number.POSITIVE_INFINITY) <= shownMaxMs));
      return hidden && `${hidden} of ${happening.queue} is to come again, and stays hidden`;
    }),
  };
}
