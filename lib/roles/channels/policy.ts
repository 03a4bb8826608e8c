import type { ChannelPolicies, ChannelPolicy } from '#authoring/channel-policy';
import { queueFigures } from '#ports/limits';
import { agentOfReplies, agentOfRequests, queueNames } from '#ports/messages';

/** A heartbeat is followed by the next one; all else is wanted. What was in a message is for the operator who asks for it, not for logs. */
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

/** A queue pair is one channel, by the name of its agent (`payment`); `submissions` and `wake-ups` are one each. */
export const channelOf = (queue: string): string => {
  const plain = queue.replace(/-dead$/, '');
  return agentOfRequests(plain) ?? agentOfReplies(plain) ?? plain;
};

/** The queues of the channel that a queue belongs to: both of an agent's pair, else it alone. */
export const pairOf = (queue: string): readonly string[] => {
  const agent = agentOfRequests(queue) ?? agentOfReplies(queue);
  return agent === undefined ? [queue] : [queueNames.requests(agent), queueNames.replies(agent)];
};
