import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Consumers } from '#ports/consumers';

export interface LambdaConsumersOptions {
  readonly client: () => Promise<LambdaClient>;
  /** The prefix of every queue's ARN. */
  readonly queueArns: string;
}

const states = { open: ['Enabled', 'Enabling', 'Creating'], closed: ['Disabled', 'Disabling'] } as const;

/**
 * Pauses and resumes the event source mappings of Lambda. A paused mapping receives nothing from its queue. Rejects while Lambda still
 * applies an earlier change; the supervisor tries again later.
 */
export function lambdaConsumers({ client: open, queueArns }: LambdaConsumersOptions): Consumers {
  return {
    async set(queues, state) {
      const [client, sdk] = await Promise.all([open(), import('@aws-sdk/client-lambda')]);
      for (const queue of queues) {
        const list = new sdk.ListEventSourceMappingsCommand({ EventSourceArn: queueArns + queue });
        const { EventSourceMappings = [] } = await client.send(list);
        for (const { UUID, State } of EventSourceMappings) {
          if ((states[state] as readonly (string | undefined)[]).includes(State)) continue;
          await client.send(new sdk.UpdateEventSourceMappingCommand({ UUID, Enabled: state === 'open' }));
        }
      }
    },
  };
}
