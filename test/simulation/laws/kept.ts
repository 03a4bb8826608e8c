import { queueNames } from '#ports/messages';
import { orderIdOf } from '#roles/submission/submission';
import type { History } from '../history.ts';
import { clientName } from '../outside.ts';
import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

/** S9, S22: what was accepted, or posted and taken off its queue, is stored, and stays; or it goes to a person. */
export function kept(): Law {
  /** Bodies of submissions under which processes died too often. */
  const givenUp = new Set<string>();
  return {
    name: 'kept',
    after: on(['sent', 'submitted', 'acknowledged'], (happening, history) => {
      if (happening.type === 'sent') {
        if (happening.queue === deadSubmissions) givenUp.add((JSON.parse(happening.body) as { readonly body: string }).body);
        return undefined;
      }
      const orderId = acceptedIn(happening);
      if (happening.type === 'acknowledged' && givenUp.has(happening.body)) return undefined;
      return orderId === undefined || isKept(orderId, history) ? undefined : `${orderId} was accepted, but is not stored`;
    }),
  };
}

const deadSubmissions = `${queueNames.submissions}-dead`;

const isKept = (orderId: string, history: History): boolean => history.orders.has(orderId);

function acceptedIn(happening: Happening): string | undefined {
  if (happening.type === 'submitted') return happening.outcome === 'accepted' ? happening.orderId : undefined;
  if (happening.type !== 'acknowledged' || happening.queue !== queueNames.submissions || !happening.body.startsWith('{"v":1,'))
    return undefined;
  const { client, idempotencyKey } = JSON.parse(happening.body) as { readonly client: string; readonly idempotencyKey: string };
  return client === clientName && !idempotencyKey.startsWith('wrong-') ? orderIdOf(client, idempotencyKey) : undefined;
}
