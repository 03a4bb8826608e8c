import type { SQSRecord } from 'aws-lambda';
import { groupOf, type Received } from './queues.ts';

/** One delivery of a message to a function. */
export interface Delivery extends Received {
  readonly queue: string;
}

/** Returns the queue of a record. `prefix`: the deployment's prefix of queue names, which is cut off; without it, the name stays whole. */
export const queueOf = ({ eventSourceARN }: Pick<SQSRecord, 'eventSourceARN'>, prefix = ''): string => {
  const name = eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
};

export const deliveryOf = (record: SQSRecord): Delivery => ({
  queue: queueOf(record),
  messageId: record.messageId,
  body: record.body,
  receiveCount: Number(record.attributes.ApproximateReceiveCount),
  sentAt: Number(record.attributes.SentTimestamp),
  senderId: record.attributes.SenderId,
  ...groupIn(record),
  receipt: record.receiptHandle,
});

/** Returns the message group of a record, if SQS names one. */
export const groupIn = ({ attributes }: Pick<SQSRecord, 'attributes'>): { readonly group?: string } =>
  groupOf({ group: attributes.MessageGroupId });
