import { queueNames } from '#ports/messages';
import { orderIdOf } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

/** An accepted or acknowledged submission is stored and stays stored, or becomes a dead letter (S9, S22). */
export function acceptedOrders(setting: Pick<Setting, 'client'>): Law {
  /** Bodies of submissions that became dead letters, because their processing failed too often. */
  const deadLetters = new Set<string>();
  /** Bodies of delivered submissions, by message id. They identify a dead letter, whose own body is encrypted. */
  const delivered = new Map<string, string>();
  return {
    name: 'accepted orders',
    after: on(['delivered', 'sent', 'submitted', 'acknowledged'], (observation, history) => {
      if (observation.type === 'delivered') {
        for (const { messageId, body } of observation.messages)
          if (observation.queue === queueNames.submissions) delivered.set(messageId, body);
        return undefined;
      }
      if (observation.type === 'sent') {
        if (observation.queue !== deadSubmissions) return undefined;
        const { messageId = '', body } = JSON.parse(observation.body) as { readonly messageId?: string; readonly body: string };
        deadLetters.add(delivered.get(messageId) ?? body);
        return undefined;
      }
      const orderId = acceptedIn(observation, setting);
      if (observation.type === 'acknowledged' && deadLetters.has(observation.body)) return undefined;
      return orderId === undefined || isStored(orderId, history) ? undefined : `order ${orderId} was accepted but is not stored`;
    }),
  };
}

const deadSubmissions = queueNames.deadLetters(queueNames.submissions);

const isStored = (orderId: string, history: History): boolean => history.orders.has(orderId);

function acceptedIn(observation: Observation, setting: Pick<Setting, 'client'>): string | undefined {
  if (observation.type === 'submitted') return observation.outcome === 'accepted' ? observation.orderId : undefined;
  if (observation.type !== 'acknowledged' || observation.queue !== queueNames.submissions || !observation.body.startsWith('{"v":1,'))
    return undefined;
  // A function may acknowledge the submission of another client, or an invalid one (its key begins with `wrong-`), without an order.
  const { client, idempotencyKey } = JSON.parse(observation.body) as { readonly client: string; readonly idempotencyKey: string };
  return client === setting.client && !idempotencyKey.startsWith('wrong-') ? orderIdOf(client, idempotencyKey) : undefined;
}
