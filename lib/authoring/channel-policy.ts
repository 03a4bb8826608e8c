/** What becomes of messages of one channel that can't be processed (PM: the questions that each application answers for itself). */
export interface ChannelPolicy {
  /** Failures of one conversation that are no more than that; one more is poison. Some are normal: an order before its new customer. */
  readonly maxFailures: number;
  /** What can be judged by its content, such as text that is no message: dead-lettered at once, or counted like any failure. */
  readonly judge: 'at once' | 'count';
  /** Types of messages that live so briefly that one which fails is dropped. */
  readonly drop: readonly string[];
  /** Whether the log shows what was in a message that failed; secrets are in it as they came. */
  readonly logsBody: boolean;
  /** Whether log and story say who sent it. */
  readonly logsSender: boolean;
  /** Poison ends its conversation: the sender is told that it can't be processed. Or only a person is told, and it goes on. */
  readonly conversation: 'ends' | 'goes on';
  /** Messages that a function takes at once, 1 to 10; one of them at a time is the most careful, and the slowest. */
  readonly batchSize: number;
  /** Failures in a row, of whatever conversations, after which the channel is closed until an operator opens it. */
  readonly closesAfter: number;
}

/** By the name of the channel; what is not said has its default. */
export type ChannelPolicies = { readonly [channel: string]: Partial<ChannelPolicy> };

/** SQS hands over no more at once, and Lambda waits before it calls a function with more. */
const batchMax = 10;

/** What is wrong with policies, each with its place and what it takes. */
export const channelProblems = (channels: ChannelPolicies): readonly string[] =>
  Object.entries(channels).flatMap(([channel, { batchSize = batchMax }]) =>
    Number.isInteger(batchSize) && batchSize >= 1 && batchSize <= batchMax
      ? []
      : [`channels.${channel}.batchSize is ${JSON.stringify(batchSize)}; it is a whole number from 1 to ${batchMax}.`],
  );
