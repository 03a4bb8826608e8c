import { type Law, on } from './law.ts';

/** A function reports as failed only messages of its own batch, and leaves no call pending when it returns. */
export const batches = (): Law => ({
  name: 'batches',
  after: on(['returned', 'answered'], (observation) => {
    if (observation.type === 'returned' && observation.open > 0)
      return `function ${observation.name} returned while ${observation.open} of its calls were pending`;
    if (observation.type !== 'answered') return undefined;
    const { queue, came, failed } = observation;
    const unknown = failed.filter((id) => !came.includes(id));
    return unknown.length === 0
      ? undefined
      : `queue ${queue}: messages "${unknown.join(', ')}" are reported as failed but were not in the batch`;
  }),
});
