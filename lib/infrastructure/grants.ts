import { Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { isDeadLetterQueue } from '#ports/messages';
import type { OrderProcessing } from './order-processing.ts';

type System = Pick<OrderProcessing, 'queues' | 'announcements' | 'alerts' | 'key'>;

/**
 * Grants what an operator needs in addition to the API. The grant lets nobody read a message of an order: the API shows dead letters, with
 * their secrets masked.
 */
export function grantOperating({ queues, announcements: { undelivered }, alerts, key }: System, grantee: IGrantable): Grant {
  const all = queues.names.map((name) => queues.queue(name).queueArn);
  const allow = allowTo(grantee);
  return allow([undelivered.queueArn], 'sqs:DeleteMessage', 'sqs:ReceiveMessage')
    .combine(allow([...all, undelivered.queueArn], 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'))
    .combine(allow(deadOf(queues), 'sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks'))
    .combine(allow([alerts.topicArn], 'sns:Subscribe'))
    .combine(throughSqs(key, grantee, 'kms:Decrypt'));
}

/**
 * Grants the redrive of dead-letter queues. SQS requires that the caller may receive the messages and send them to their queues, so
 * the grantee can read and forge them.
 */
export function grantRedriving({ queues, key }: System, grantee: IGrantable): Grant {
  const sources = queues.names.filter((name) => !isDeadLetterQueue(name)).map((name) => queues.queue(name).queueArn);
  const allow = allowTo(grantee);
  const onDead = ['CancelMessageMoveTask', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl', 'ListMessageMoveTasks'];
  return allow(deadOf(queues), ...[...onDead, 'ReceiveMessage', 'StartMessageMoveTask'].map((action) => `sqs:${action}`))
    .combine(allow(sources, 'sqs:GetQueueUrl', 'sqs:SendMessage'))
    .combine(throughSqs(key, grantee, 'kms:Decrypt', 'kms:GenerateDataKey'));
}

const deadOf = (queues: System['queues']): string[] => queues.names.filter(isDeadLetterQueue).map((name) => queues.queue(name).queueArn);

const allowTo =
  (grantee: IGrantable) =>
  (resourceArns: string[], ...actions: string[]): Grant =>
    Grant.addToPrincipal({ grantee, actions, resourceArns });

/** Grants use of the key for messages of SQS alone, not for the table, the secret or a call of KMS itself. */
const throughSqs = (key: System['key'], grantee: IGrantable, ...actions: string[]): Grant =>
  Grant.addToPrincipal({
    grantee,
    actions,
    resourceArns: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `sqs.${Stack.of(key).region}.amazonaws.com` } },
  });
