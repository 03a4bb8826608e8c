import { type Law, on } from './law.ts';

/** A message that cannot be processed becomes a dead letter with its whole body (S25). */
export function poisonMessages(): Law {
  const open = new Set<string>();
  return {
    name: 'poison messages',
    after: on(['poisoned', 'purged', 'dead-lettered'], (observation) => {
      if (observation.type === 'poisoned') open.add(originalBody(observation.body));
      if (observation.type === 'purged') open.delete(originalBody(observation.body));
      if (observation.type === 'dead-lettered') open.delete(originalBody(observation.message.body));
      return undefined;
    }),
    atEnd: () => [...open].map((body) => `message ${body.trim()} neither became a dead letter nor was purged`),
  };
}

/**
 * Returns the message without the time since which it waits for a process of a newer release, and without the key of its order, which no dead
 * letter keeps.
 */
export function originalBody(body: string): string {
  if (!body.startsWith('{"')) return body;
  const { waitsSince: _, key: __, ...message } = JSON.parse(body) as { readonly waitsSince?: string; readonly key?: string };
  return JSON.stringify(message);
}
