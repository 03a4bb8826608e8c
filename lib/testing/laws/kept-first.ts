import { isDeadLetterQueue, sourceQueueOf } from '#ports/messages';
import { poisonIn } from '#roles/dead-letters/envelope';
import { parseIncoming } from '#roles/scheduler/incoming';
import { lockHolderOf } from '#roles/scheduler/lease';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';
import { originalBody } from './poison-messages.ts';

/** A message that was delivered while a person had locked its order. */
interface Met {
  readonly orderId: string;
  readonly queue: string;
  readonly body: string;
  isKept: boolean;
}

type Sent = Extract<Observation, { type: 'sent' }>;

/** A message that met a person's lock is acknowledged only after it is kept in the inbox of its order (S39). */
export function keptFirst({ toleranceMs, now }: Setting): Law {
  /** Messages that met a lock, by id. An entry ends when the order is unlocked, or the message is requeued or dead-lettered. */
  const met = new Map<string, Met>();
  /** Messages that were also delivered before the lock. The process that got them then may find that they change nothing, and acknowledge them. */
  const metBefore = new Set<string>();
  /** Orders that were damaged or written by a newer program: their messages are judged by other laws. */
  const unreadable = new Set<string>();
  const forget = (isMeant: (each: Met, messageId: string) => boolean): void => {
    for (const [messageId, each] of met) if (isMeant(each, messageId)) met.delete(messageId);
  };

  function acknowledged(messageId: string, { orders }: History): string | undefined {
    const message = met.get(messageId);
    met.delete(messageId);
    if (!message || message.isKept || unreadable.has(message.orderId)) return undefined;
    const { orderId, body } = message;
    // A host with another clock may have found that the lock is over.
    if ((orders.get(orderId)?.state.heldUntil ?? 0) <= now() + toleranceMs) return undefined;
    return `order ${orderId} is locked, and has not kept a message that is acknowledged: ${body}`;
  }

  return {
    name: 'kept first',
    after: on(['delivered', 'written', 'kept', 'sent', 'newer', 'damaged', 'acknowledged'], (observation, history) => {
      if (observation.type === 'acknowledged') return acknowledged(observation.messageId, history);
      if (observation.type === 'delivered')
        for (const { messageId, body } of observation.messages) {
          const orderId = lockedFor(observation.queue, body, history);
          met.delete(messageId);
          if (orderId === undefined) metBefore.add(messageId);
          else if (!metBefore.has(messageId)) met.set(messageId, { orderId, queue: observation.queue, body, isKept: false });
        }
      if (observation.type === 'kept') {
        const { orderId, queue, body } = observation;
        for (const each of met.values()) if (each.orderId === orderId && each.queue === queue && each.body === body) each.isKept = true;
      }
      if (observation.type === 'written' && lockHolderOf(observation.after) === undefined)
        forget(({ orderId }) => orderId === observation.after.orderId);
      if (observation.type === 'newer' || observation.type === 'damaged') unreadable.add(observation.orderId);
      if (observation.type === 'sent') forget((each, messageId) => isElsewhere(observation, each, messageId));
      return undefined;
    }),
  };
}

/** Returns the locked order that a message is for; undefined for wake-ups, which the supervisor repeats. */
function lockedFor(queue: string, body: string, { orders }: History): string | undefined {
  const message = parseIncoming(body, queue);
  const state = message && orders.get(message.orderId)?.state;
  if (!message || message.incoming.type === 'wake-up' || !state) return undefined;
  return lockHolderOf(state) === undefined ? undefined : message.orderId;
}

/** Whether this is the message, sent to its queue again or as a dead letter. */
const isElsewhere = (sent: Sent, { queue, body }: Met, messageId: string): boolean =>
  isDeadLetterQueue(sent.queue)
    ? poisonIn(sent.body, sourceQueueOf(sent.queue))?.messageId === messageId
    : sent.queue === queue && originalBody(sent.body) === originalBody(body);
