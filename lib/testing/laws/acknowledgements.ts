import { requestIdOf } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { isDeadLetterQueue, sourceQueueOf } from '#ports/messages';
import { poisonIn } from '#roles/dead-letters/envelope';
import { waitsSinceField } from '#roles/dead-letters/requeue';
import { parseIncoming } from '#roles/scheduler/incoming';
import type { History } from '#testing/world/history';
import { isForged, type Law, on, type Setting } from './law.ts';

/**
 * If a reply led to the last write of its order, it is acknowledged only after the requests of that write are sent (S26, X-1). Exempt are
 * a reply that became a dead letter, and one that was sent several times.
 */
export function acknowledgements(setting: Pick<Setting, 'forgedWord'>): Law {
  /** Ids of the requests that were sent. */
  const sent = new Set<string>();
  /** The number of times that each message was sent. */
  const times = new Map<string, number>();
  /** Replies by request id. Copies of one request may get different replies, all with the id of the request. */
  const replies = new Map<string, Set<string>>();
  /** Bodies of dead letters. Processing them failed each time, so the order waits for its deadline. */
  const deadLetters = new Set<string>();
  /** Orders whose record could not be read for a while. Their messages are requeued or dead-lettered. */
  const unreadable = new Set<string>();
  return {
    name: 'acknowledgements',
    after: on(['sent', 'newer', 'damaged', 'acknowledged'], (observation, history) => {
      if (observation.type === 'sent') {
        times.set(originalBody(observation.body), (times.get(originalBody(observation.body)) ?? 0) + 1);
        const requestId = observation.queue.endsWith('-replies') ? /"requestId":"([^"]+)"/.exec(observation.body)?.[1] : undefined;
        if (requestId !== undefined) replies.set(requestId, (replies.get(requestId) ?? new Set()).add(originalBody(observation.body)));
        const poison = isDeadLetterQueue(observation.queue) ? poisonIn(observation.body, sourceQueueOf(observation.queue)) : undefined;
        if (poison) deadLetters.add(poison.body);
        if (observation.queue.endsWith('-requests')) sent.add((JSON.parse(observation.body) as { readonly requestId: string }).requestId);
      }
      if (observation.type === 'newer' || observation.type === 'damaged') unreadable.add(observation.orderId);
      // A forged reply has the id of a genuine one, whose requests may not be sent yet.
      const isForgedReply = observation.type === 'acknowledged' && isForged(observation.body, setting);
      if (isForgedReply || (observation.type === 'acknowledged' && deadLetters.has(observation.body))) return undefined;
      // If a message was sent several times, another copy may be the one that the order applies, and later.
      if (observation.type !== 'acknowledged' || (times.get(originalBody(observation.body)) ?? 0) > 1) return undefined;
      const message = parseIncoming(observation.body, observation.queue);
      // Only replies are judged. A wake-up that finds nothing to do now may find something a moment later.
      if (message?.incoming.type !== 'reply' || unreadable.has(message.orderId)) return undefined;
      if ((replies.get(message.incoming.id)?.size ?? 0) > 1) return undefined;
      return unsentRequest(message.orderId, message.incoming.id, sent, history);
    }),
  };
}

/** Returns the message as it was first sent. A message requeued for a newer version also holds the time since which it waits. */
function originalBody(body: string): string {
  if (!body.includes(`"${waitsSinceField}"`)) return body;
  const { [waitsSinceField]: _, ...message } = JSON.parse(body) as { readonly [field: string]: unknown };
  return JSON.stringify(message);
}

function unsentRequest(orderId: string, id: string, sent: ReadonlySet<string>, history: History): string | undefined {
  const order = history.orders.get(orderId);
  if (!order?.state.lastBy.includes(id)) return undefined;
  const { state, lastRequested } = order.instance;
  const missing = lastRequested.find((path) => {
    const local = state.activities[path]?.local as StepState | undefined;
    return local?.phase === 'requested' && local.epoch === order.state.epoch && !sent.has(requestIdOf(orderId, path, local));
  });
  return missing && `order ${orderId}: reply ${id} was acknowledged before the request of step ${missing}, which follows from it, was sent`;
}
