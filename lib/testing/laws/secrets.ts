import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

/** S24: what is marked secret stands in no journal, announcement, message to a client, alert or log, whoever repeats it. */
export const secrets = ({ secretWord, responseQueue }: Pick<Setting, 'secretWord' | 'responseQueue'>): Law => ({
  name: 'secrets',
  after: on(['written', 'published', 'sent', 'failed'], (observation, history) => {
    if (secretWord === undefined) return undefined;
    const told = textsOf(observation, responseQueue);
    if (observation.type === 'written') {
      const { blob: _, ...head } = observation.after;
      told.push(JSON.stringify(head), ...(history.orders.get(head.orderId)?.news ?? []).map((line) => JSON.stringify(line)));
    }
    const open = told.find((text) => text.includes(secretWord));
    return open && `for everybody to see: ${open}`;
  }),
});

function textsOf(observation: Observation, responseQueue: string): string[] {
  if (observation.type === 'published') return [JSON.stringify(observation.announcement)];
  if (observation.type === 'sent') return observation.queue === responseQueue ? [observation.body] : [];
  return observation.type === 'failed' && observation.where !== 'a booking is to be canceled' ? [observation.message] : [];
}
