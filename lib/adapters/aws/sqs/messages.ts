import type { Message, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs';
import { delayMaxMs, groupOf, type Outgoing, type Received } from '#ports/queues';

export const secondsOf = (ms: number, max: number): number => Math.min(Math.ceil(ms / 1000), max);

export const entryOf = ({ body, delayMs = 0, group }: Outgoing, index: number): SendMessageBatchRequestEntry => ({
  Id: String(index),
  MessageBody: sendable(body),
  ...(delayMs > 0 ? { DelaySeconds: secondsOf(delayMs, delayMaxMs / 1000) } : {}),
  ...(group === undefined ? {} : { MessageGroupId: groupIdOf(group) }),
});

/** Escapes the two characters that JSON allows and SQS refuses. */
const sendable = (body: string): string => body.replace(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/** Returns a valid group id for SQS: at most 128 ASCII letters, digits and punctuation characters. */
const groupIdOf = (group: string): string => group.replace(/[^\x21-\x7e]/g, '_').slice(0, 128);

export const receivedOf = ({ MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} }: Message): Received => ({
  messageId: MessageId,
  body: Body,
  receiveCount: Number(Attributes['ApproximateReceiveCount'] ?? 1),
  sentAt: Number(Attributes['SentTimestamp'] ?? 0),
  ...(Attributes['SenderId'] === undefined ? {} : { senderId: Attributes['SenderId'] }),
  ...groupOf({ group: Attributes['MessageGroupId'] }),
  receipt: ReceiptHandle,
});
