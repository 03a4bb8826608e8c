import { type Law, on, type Setting } from './law.ts';

/** A message that can be processed does not become a dead letter (S25). */
export function validMessages({ processesAllMessages }: Pick<Setting, 'processesAllMessages'>): Law {
  const poison = new Set<string>();
  return {
    name: 'valid messages',
    after: on(['poisoned', 'dead-lettered'], (observation) => {
      if (observation.type === 'poisoned') poison.add(observation.body);
      else if (processesAllMessages && !poison.has(observation.message.body))
        return `a valid message became a dead letter: ${observation.message.body}`;
      return undefined;
    }),
  };
}
