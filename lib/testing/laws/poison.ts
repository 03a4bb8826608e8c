import { type Law, on } from './law.ts';

/** S25: a message that nobody can make sense of is kept whole for a person in the end, and keeps nobody else from his work. */
export function poison(): Law {
  const open = new Set<string>();
  return {
    name: 'poison',
    after: on(['poisoned', 'purged', 'dead-lettered'], (observation) => {
      if (observation.type === 'poisoned') open.add(asItCame(observation.body));
      if (observation.type === 'purged') open.delete(asItCame(observation.body));
      if (observation.type === 'dead-lettered') open.delete(asItCame(observation.message.body));
      return undefined;
    }),
    atEnd: () => [...open].map((body) => `${body.trim()} is nowhere to be found`),
  };
}

/** Without what is noted in a message that waits for a newer version of the program. */
function asItCame(body: string): string {
  if (!body.startsWith('{"')) return body;
  const { waitsSince: _, ...message } = JSON.parse(body) as { readonly waitsSince?: string };
  return JSON.stringify(message);
}
