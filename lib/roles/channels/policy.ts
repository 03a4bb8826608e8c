import type { ChannelPolicies, ChannelPolicy } from '#authoring/channel-policy';
import { queueFigures } from '#ports/limits';
import { agentOfReplies, agentOfRequests, consumerOf, queueNames, sourceQueueOf } from '#ports/messages';

/** Default policy. Only a failing heartbeat is dropped, because another follows. Bodies of messages stay out of the logs. */
export const policyDefaults: ChannelPolicy = {
  maxFailures: 3,
  judge: 'at once',
  drop: ['heartbeat'],
  logsBody: false,
  logsSender: true,
  conversation: 'ends',
  batchSize: queueFigures.batchMax,
  closesAfter: 5,
};

export const policyOf = (channel: string, policies: ChannelPolicies = {}): ChannelPolicy => ({ ...policyDefaults, ...policies[channel] });

/** Returns the channel of a queue: the name of its agent (`payment`) or consumer (`expenses`), else the queue itself (`submissions`). */
export const channelOf = (queue: string): string => {
  const plain = sourceQueueOf(queue);
  return agentOfRequests(plain) ?? agentOfReplies(plain) ?? consumerOf(plain) ?? plain;
};

/** Returns all queues in the channel of a queue: both queues of an agent, else the queue alone. */
export const pairOf = (queue: string): readonly string[] => {
  const agent = agentOfRequests(queue) ?? agentOfReplies(queue);
  return agent === undefined ? [queue] : [queueNames.requests(agent), queueNames.replies(agent)];
};
