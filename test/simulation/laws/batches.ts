import { type Law, on } from './law.ts';

/** a function names as failed only what came, and nothing of it goes on when it has answered. */
export const batches = (): Law => ({
  name: 'batches',
  after: on(['returned', 'answered'], (happening) => {
    if (happening.type === 'returned' && happening.open > 0)
      return `${happening.name} has answered, and waits for ${happening.open} answers still`;
    if (happening.type !== 'answered') return undefined;
    const { queue, came, failed } = happening;
    const unknown = failed.filter((id) => !came.includes(id));
    return unknown.length === 0 ? undefined : `of a batch of ${queue}, "${unknown.join(', ')}" is to come again, which never came`;
  }),
});
