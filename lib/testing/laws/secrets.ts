import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

/** No journal, announcement, status message, log line, task or message for people contains a secret value, even if a service quotes it (S24). */
export const secrets = ({ secretWord, responseQueue }: Pick<Setting, 'secretWord' | 'responseQueue'>): Law => ({
  name: 'secrets',
  after: on(['written', 'published', 'sent', 'failed', 'people recorded', 'message received'], (observation, history) => {
    if (secretWord === undefined) return undefined;
    const texts = textsOf(observation, responseQueue);
    if (observation.type === 'written') {
      const { blob: _, ...head } = observation.after;
      texts.push(JSON.stringify(head), ...(history.orders.get(head.orderId)?.newFacts ?? []).map((line) => JSON.stringify(line)));
    }
    const leak = texts.find((text) => text.includes(secretWord));
    return leak && `a secret appeared in ${leak}`;
  }),
});

function textsOf(observation: Observation, responseQueue: string): string[] {
  if (observation.type === 'published') return [JSON.stringify(observation.announcement)];
  if (observation.type === 'people recorded') return observation.documents.map(({ content }) => JSON.stringify(content));
  if (observation.type === 'message received') return [JSON.stringify(observation.message)];
  if (observation.type === 'sent') return observation.queue === responseQueue ? [observation.body] : [];
  // A service of the simulation records the error of this name itself, with the secret. That record is no log line of the system.
  return observation.type === 'failed' && observation.where !== 'a booking is to be canceled' ? [observation.message] : [];
}
