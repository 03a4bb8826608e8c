import { isDeadLetterQueue, sourceQueueOf } from '#ports/messages';
import { poisonIn } from '#roles/dead-letters/envelope';
import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

interface Entrusted {
  readonly queue: string;
  readonly body: string;
  readonly isGood: boolean;
  readonly isShortLived: boolean;
}

/**
 * Each message for a consumer is handled, becomes a dead letter, or is dropped and counted. Only messages of short-lived types are dropped,
 * and no good one (S50). A message is acknowledged only after that (S51).
 */
export function consumerMessages(): Law {
  const entrusted = new Map<string, Entrusted>();
  /** Messages without an end, by queue and body: copies of a message are one message. */
  const open = new Map<string, Entrusted>();
  const keys = new Map<string, string>();
  /** Ids of messages that may be acknowledged. */
  const done = new Set<string>();
  const drops = { logged: 0, counted: 0 };

  function end(messageId: string): Entrusted | undefined {
    const key = keys.get(messageId) ?? '';
    done.add(messageId);
    open.delete(key);
    return entrusted.get(key);
  }

  function dropped(messageId: string): string | undefined {
    drops.logged += 1;
    const message = end(messageId);
    if (message?.isGood) return `a good message was dropped: ${message.body}`;
    return message && !message.isShortLived ? `a message was dropped although it is not short-lived: ${message.body}` : undefined;
  }

  function wrongWith(observation: Extract<Observation, { type: (typeof kinds)[number] }>): string | undefined {
    switch (observation.type) {
      case 'entrusted':
        entrusted.set(keyOf(observation), observation);
        open.set(keyOf(observation), observation);
        return undefined;
      case 'delivered':
        for (const { messageId, body } of observation.messages) keys.set(messageId, keyOf({ queue: observation.queue, body }));
        return undefined;
      case 'handler':
        if (observation.step === 'handled') end(observation.messageId);
        return undefined;
      case 'drop counted':
        drops.counted += 1;
        return undefined;
      case 'dropped':
        return dropped(observation.messageId);
      case 'sent':
        // The message may be acknowledged now. It stays in `open` until the dead-letter function has kept it.
        if (isDeadLetterQueue(observation.queue)) done.add(poisonIn(observation.body, sourceQueueOf(observation.queue))?.messageId ?? '');
        return undefined;
      case 'dead-lettered':
        open.delete(keyOf(observation.message));
        return undefined;
      default: {
        const message = entrusted.get(keys.get(observation.messageId) ?? '');
        return message && !done.has(observation.messageId)
          ? `message ${observation.messageId} of ${observation.queue} was acknowledged before it was handled: ${observation.body}`
          : undefined;
      }
    }
  }

  return {
    name: 'consumer messages',
    after: on(kinds, wrongWith),
    atEnd: () => [
      ...[...open.values()].map(({ queue, body }) => `a message of ${queue} was neither handled, dead-lettered nor dropped: ${body}`),
      ...(drops.logged === drops.counted ? [] : [`${drops.logged} messages were dropped, but ${drops.counted} were counted`]),
    ],
  };
}

const kinds = ['entrusted', 'delivered', 'handler', 'sent', 'dropped', 'drop counted', 'dead-lettered', 'acknowledged'] as const;

const keyOf = ({ queue, body }: { readonly queue: string; readonly body: string }): string => `${queue} ${body}`;
