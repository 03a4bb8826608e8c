import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Consumers } from '#ports/consumers';

export interface LambdaConsumersOptions {
  readonly client: () => Promise<LambdaClient>;
  /** What stands before a queue's name in its ARN. */
  readonly queueArns: string;
}

const states = { open: ['Enabled', 'Enabling', 'Creating'], closed: ['Disabled', 'Disabling'] } as const;

/**
 * Event source mappings of Lambda: a closed one takes nothing from its queue. Rejects while Lambda still changes it; whoever
 * wants it so asks again.
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
