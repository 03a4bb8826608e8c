/** Opens and shuts what feeds the functions from queues; the same again changes nothing. */
export interface Consumers {
  set(queues: readonly string[], state: 'open' | 'closed'): Promise<void>;
}
