import { hash } from 'node:crypto';
import { endingTypes } from '#authoring/consumer';
import { isObject } from '#core/data/json';
import type { Delivery } from '#ports/delivery';
import { consumerOf, queueNames } from '#ports/messages';
import { jsonIn } from '#ports/util/json';

/** Fields of a message whose form has not been validated. */
export type MessageFields = { readonly [field: string]: unknown };

export function messageFieldsIn(body: string): MessageFields | undefined {
  const message = jsonIn(body);
  return isObject(message) ? message : undefined;
}

/** Size limit of a sort key in DynamoDB. */
const bytesMax = 1024;

/**
 * Returns the conversation of a message: the messages of one step, the wake-ups of one order, or the submissions of a client under
 * one key. A message for a consumer names its conversation. A message without these fields is a conversation by itself.
 */
export function conversationOf({ queue, messageId, body }: Pick<Delivery, 'queue' | 'messageId' | 'body'>): string {
  const { orderId, path, client, idempotencyKey, conversation } = messageFieldsIn(body) ?? {};
  const parts = partsOf();
  const named = parts.every((part) => typeof part === 'string' && part !== '') ? parts.join('/') : `message/${messageId}`;
  return Buffer.byteLength(named) <= bytesMax ? named : hash('sha256', named);

  function partsOf(): readonly unknown[] {
    if (consumerOf(queue) !== undefined) return ['conversation', typeof client === 'string' ? client : 'anyone', conversation];
    if (queue === queueNames.submissions) return [client, idempotencyKey];
    return queue === queueNames.wakeUps ? [orderId] : [orderId, path];
  }
}

/**
 * Whether an earlier delivery of the message, or an earlier message of its conversation, may have failed. Then a success clears
 * the failure count of the conversation.
 */
export function mayHaveFailed({ receiveCount, body }: Delivery): boolean {
  if (receiveCount > 1) return true;
  const { attempt, requeued, resent, type, result } = messageFieldsIn(body) ?? {};
  if (typeof attempt === 'number' && attempt > 1) return true;
  // A reply says `rejected` if its request has become a dead letter, after failures.
  return requeued !== undefined || resent !== undefined || ending.has(type) || (isObject(result) && result['status'] === 'rejected');
}

/** Types of messages that follow a message which may have failed: a `cancel` follows its request, and the end of a conversation its other messages. */
const ending: ReadonlySet<unknown> = new Set(['cancel', ...endingTypes]);
