import { hash } from 'node:crypto';
import { isObject } from '#core/data/json';
import type { Delivery } from '#ports/delivery';
import { queueNames } from '#ports/messages';

/** What a message says of itself, where it says anything. */
export type MessageFields = { readonly [field: string]: unknown };

export function messageFieldsIn(body: string): MessageFields | undefined {
  try {
    const message: unknown = JSON.parse(body);
    return isObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** DynamoDB takes so many bytes to sort by. */
const bytesMax = 1024;

/**
 * What belongs together: all that is asked and answered for one step, all that wakes one order, a client's submission under one
 * key. What does not say so is a conversation of its own.
 */
export function conversationOf({ queue, messageId, body }: Pick<Delivery, 'queue' | 'messageId' | 'body'>): string {
  const { orderId, path, client, idempotencyKey } = messageFieldsIn(body) ?? {};
  const parts = queue === queueNames.submissions ? [client, idempotencyKey] : queue === queueNames.wakeUps ? [orderId] : [orderId, path];
  const named = parts.every((part) => typeof part === 'string' && part !== '') ? parts.join('/') : `message/${messageId}`;
  return Buffer.byteLength(named) <= bytesMax ? named : hash('sha256', named);
}

/**
 * Whether an earlier delivery of it, or an earlier message of its conversation, may have failed: then success is also good for
 * clearing what was counted. Whoever ends the conversation ends the counting.
 */
export function mayHaveFailed({ receiveCount, body }: Delivery): boolean {
  if (receiveCount > 1) return true;
  const { attempt, requeued, resent, type, result } = messageFieldsIn(body) ?? {};
  if (typeof attempt === 'number' && attempt > 1) return true;
  return requeued !== undefined || resent !== undefined || type === 'cancel' || (isObject(result) && result['status'] === 'rejected');
}
