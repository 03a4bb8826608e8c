/** Control of the consumers (on AWS, event source mappings) that pass messages from queues to functions. `set` is idempotent. */
export interface Consumers {
  set(queues: readonly string[], state: 'open' | 'closed'): Promise<void>;
}
