/** The treatment of messages that cannot be processed, on one channel. Each app decides it for itself. */
export interface ChannelPolicy {
  /**
   * Failures of one conversation until its message becomes a dead letter. A few are normal: the message about an order may arrive before
   * the one about its new customer.
   */
  readonly maxFailures: number;
  /** Whether content that can never be processed, such as invalid JSON, is dead-lettered at once or counted like other failures. */
  readonly judge: 'at once' | 'count';
  /** Types of short-lived messages. A failed one is dropped. */
  readonly drop: readonly string[];
  /** Whether logs contain the body of a failed message. Secrets appear in it unredacted. */
  readonly logsBody: boolean;
  /** Whether logs and history name the sender of a failed message. */
  readonly logsSender: boolean;
  /** With `ends`, a dead letter ends its conversation and the sender is notified. With `goes on`, only an operator is notified. */
  readonly conversation: 'ends' | 'goes on';
  /** Messages that a function receives in one batch, 1 to 10. With 1, a failure affects no other message, but throughput is lowest. */
  readonly batchSize: number;
  /** Failures in a row, across conversations, that close the channel until an operator opens it. */
  readonly closesAfter: number;
}

/** Policies by channel name. Each missing field has its default. */
export type ChannelPolicies = { readonly [channel: string]: Partial<ChannelPolicy> };

/** SQS delivers at most 10 messages in one batch. For larger batches Lambda would wait before it calls the function. */
const batchMax = 10;

/** Returns one problem for each invalid value, with its place and the valid range. */
export const channelProblems = (channels: ChannelPolicies): readonly string[] =>
  Object.entries(channels).flatMap(([channel, { batchSize = batchMax }]) =>
    Number.isInteger(batchSize) && batchSize >= 1 && batchSize <= batchMax
      ? []
      : [`channels.${channel}.batchSize: expected a whole number from 1 to ${batchMax}, got ${JSON.stringify(batchSize)}.`],
  );
