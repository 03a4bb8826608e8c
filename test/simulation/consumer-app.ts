import { defineConsumer, type MessageContext, messageType } from 'redress';
import * as z from 'zod';
import type { ChannelPolicies } from '#authoring/channel-policy';
import { type ConsumerDefinition, consumerDefinitionOf, type OwnFailureCounts } from '#authoring/consumer';

/** The effects of a message on its handler. `early`: the handler fails until something else has happened. `deadly`: the process ends. */
export const manners = ['good', 'poison', 'bug', 'never', 'early', 'deadly'] as const;
const Body = z.object({ id: z.string(), does: z.enum(manners) });
export type ConsumerBody = z.output<typeof Body>;

/** The handlers behind the consumers of one host. */
export interface Handlers {
  handled(consumer: string, body: ConsumerBody, context: MessageContext): Promise<void>;
  /** The failure counts of `receipts`, which keeps its own. */
  readonly counts: OwnFailureCounts;
}

/** The message types of each consumer. */
export const messageTypes: { readonly [consumer: string]: readonly string[] } = {
  reports: ['report', 'employee'],
  receipts: ['receipt'],
  statuses: ['status', 'alarm'],
  levels: ['level'],
};

/** The short-lived types of `statuses`. */
export const shortLived = ['status'];

/** Each consumer treats failures in a different way: it judges them at once, counts them, drops messages, or closes its channel. */
export const channels: ChannelPolicies = {
  reports: { maxFailures: 2 },
  receipts: { judge: 'count', maxFailures: 1, batchSize: 1, closesAfter: 1000 },
  statuses: { drop: shortLived, maxFailures: 0, conversation: 'goes on' },
  levels: { maxFailures: 0, closesAfter: 3, conversation: 'goes on', batchSize: 5 },
};

/** Returns the consumers of one host. */
export const consumersOn = (handlers: Handlers): readonly ConsumerDefinition[] =>
  Object.entries(messageTypes).map(([name, types]) => {
    const type = messageType({ body: Body, handle: (body, context) => handlers.handled(name, body, context) });
    const counts: OwnFailureCounts = {
      read: (conversation) => handlers.counts.read(conversation),
      write: (...given) => handlers.counts.write(...given),
    };
    const consumer = defineConsumer(
      name,
      Object.fromEntries(types.map((each) => [each, type])),
      name === 'receipts' ? { failureCounts: counts } : {},
    );
    return consumerDefinitionOf(consumer);
  });
