import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { Destination } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { SendResult } from '#ports/sender';

/**
 * Sends messages to topics of SNS. `topicArn`: the topic of the deployment, for destinations without a topic. Topics need no list of
 * allowed names: the permissions of the function say which topics it may use.
 */
export function snsSender(topicArn: string | undefined, client = new SNSClient({})) {
  return async (
    { id, type, subject, text, data }: PeopleMessage,
    { topicArn: ofDestination }: Extract<Destination, { kind: 'sns' }>,
  ): Promise<SendResult> => {
    const TopicArn = ofDestination ?? topicArn;
    if (TopicArn === undefined) return { outcome: 'failed', reason: 'The deployment has no topic. Name one in the destination: topicArn.' };
    try {
      await client.send(
        new PublishCommand({
          TopicArn,
          // In a subject, SNS accepts ASCII alone.
          Subject: subject.replace(/[^\x20-\x7e]/g, '?'),
          Message: text,
          MessageAttributes: {
            id: { DataType: 'String', StringValue: id },
            type: { DataType: 'String', StringValue: type },
            group: { DataType: 'String', StringValue: String(data['group']) },
          },
        }),
      );
      return { outcome: 'delivered' };
    } catch (error) {
      return { outcome: 'failed', reason: `SNS refused the message (${(error as Error).name}).` };
    }
  };
}
