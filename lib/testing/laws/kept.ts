import { queueNames } from '#ports/messages';
import { orderIdOf } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

/** S9, S22: what was accepted, or posted and taken off its queue, is stored, and stays; or it goes to a person. */
export function kept(setting: Pick<Setting, 'client'>): Law {
  /** Bodies of submissions under which processes died too often. */
  const givenUp = new Set<string>();
  return {
    name: 'kept',
    after: on(['sent', 'submitted', 'acknowledged'], (observation, history) => {
      if (observation.type === 'sent') {
        if (observation.queue === deadSubmissions) givenUp.add((JSON.parse(observation.body) as { readonly body: string }).body);
        return undefined;
      }
      const orderId = acceptedIn(observation, setting);
      if (observation.type === 'acknowledged' && givenUp.has(observation.body)) return undefined;
      return orderId === undefined || isKept(orderId, history) ? undefined : `${orderId} was accepted, but is not stored`;
    }),
  };
}

const deadSubmissions = `${queueNames.submissions}-dead`;

const isKept = (orderId: string, history: History): boolean => history.orders.has(orderId);

function acceptedIn(observation: Observation, setting: Pick<Setting, 'client'>): string | undefined {
  if (observation.type === 'submitted') return observation.outcome === 'accepted' ? observation.orderId : undefined;
  if (observation.type !== 'acknowledged' || observation.queue !== queueNames.submissions || !observation.body.startsWith('{"v":1,'))
    return undefined;
  const { client, idempotencyKey } = JSON.parse(observation.body) as { readonly client: string; readonly idempotencyKey: string };
  return client === setting.client && !idempotencyKey.startsWith('wrong-') ? orderIdOf(client, idempotencyKey) : undefined;
}
