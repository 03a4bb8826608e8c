import { agentOfReplies, agentOfRequests, queues } from '../messages.ts';

/** What becomes of messages of one channel that can't be processed (PM: the questions that each application answers for itself). */
export interface ChannelPolicy {
  /** Failures of one conversation that are no more than that; one more is poison. Some are normal: an order before its new customer. */
  readonly maxFailures: number;
  /** What can be judged by its content, such as text that is no message: set aside at once, or counted like any failure. */
  readonly judge: 'at once' | 'count';
  /** Types of messages that live so briefly that one which fails is dropped. */
  readonly drop: readonly string[];
  /** Whether the log shows what was in a message that failed; secrets are in it as they came. */
  readonly logsBody: boolean;
  /** Whether log and story say who sent it. */
  readonly logsSender: boolean;
  /** Poison ends its conversation: the sender is told that it can't be processed. Or only a person is told, and it goes on. */
  readonly conversation: 'ends' | 'goes on';
  /** Messages that a function takes at once; one of them at a time is the most careful, and the slowest. */
  readonly batchSize: number;
  /** Failures in a row, of whatever conversations, after which the channel is closed until an operator opens it. */
  readonly closesAfter: number;
}

/** A heartbeat is followed by the next one; all else is wanted. What was in a message is for the operator who asks for it, not for logs. */
export const policyDefaults: ChannelPolicy = {
  maxFailures: 3,
  judge: 'at once',
  drop: ['heartbeat'],
  logsBody: false,
  logsSender: true,
  conversation: 'ends',
  batchSize: 10,
  closesAfter: 5,
};

/** By the name of the channel; what is not said is as in `policyDefaults`. */
export type ChannelPolicies = { readonly [channel: string]: Partial<ChannelPolicy> };

export const policyOf = (channel: string, policies: ChannelPolicies = {}): ChannelPolicy => ({ ...policyDefaults, ...policies[channel] });

/** A queue pair is one channel, by the name of its agent (`payment`); `submissions` and `wake-ups` are one each. */
export const channelOf = (queue: string): string => {
  const plain = queue.replace(/-dead$/, '');
  return agentOfRequests(plain) ?? agentOfReplies(plain) ?? plain;
};

/** The queues of the channel that a queue belongs to: both of an agent's pair, else it alone. */
export const pairOf = (queue: string): readonly string[] => {
  const agent = agentOfRequests(queue) ?? agentOfReplies(queue);
  return agent === undefined ? [queue] : [queues.requests(agent), queues.replies(agent)];
};
