import { type Law, on } from './law.ts';

/** a function names as failed only what came, and nothing of it goes on when it has answered. */
export const batches = (): Law => ({
  name: 'batches',
  after: on(['returned', 'answered'], (observation) => {
    if (observation.type === 'returned' && observation.open > 0)
      return `${observation.name} has answered, and waits for ${observation.open} answers still`;
    if (observation.type !== 'answered') return undefined;
    const { queue, came, failed } = observation;
    const unknown = failed.filter((id) => !came.includes(id));
    return unknown.length === 0 ? undefined : `of a batch of ${queue}, "${unknown.join(', ')}" is to come again, which never came`;
  }),
});
