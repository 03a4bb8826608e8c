import { queues } from '../../../lib/messages.ts';
import { orderIdOf } from '../../../lib/submission.ts';
import type { History } from '../history.ts';
import { clientName } from '../outside.ts';
import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

/** S9, S22: what was accepted, or posted and taken off its queue, is stored, and stays. */
export const kept = (): Law => ({
  name: 'kept',
  after: on(['submitted', 'acknowledged'], (happening, history) => {
    const orderId = acceptedIn(happening);
    return orderId === undefined || isKept(orderId, history) ? undefined : `${orderId} was accepted, but is not stored`;
  }),
});

const isKept = (orderId: string, history: History): boolean => history.orders.has(orderId);

function acceptedIn(happening: Happening): string | undefined {
  if (happening.type === 'submitted') return happening.outcome === 'accepted' ? happening.orderId : undefined;
  if (happening.type !== 'acknowledged' || happening.queue !== queues.submissions || !happening.body.startsWith('{"v":1,'))
    return undefined;
  const { client, idempotencyKey } = JSON.parse(happening.body) as { readonly client: string; readonly idempotencyKey: string };
  return client === clientName && !idempotencyKey.startsWith('wrong-') ? orderIdOf(client, idempotencyKey) : undefined;
}
