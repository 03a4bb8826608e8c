import { type StateHead, shardOf } from '#ports/records';
import type { Item } from './items.ts';
import { listedKey, stateShardKey } from './keys.ts';

/**
 * Returns the index entry of an order in Error, of a pending one, and of one at work that has no deadline: it waits for a signal, or is
 * suspended. Only these pay for the index. A state without a submission time has no entry; the index by day finds its order.
 */
export function stateEntry({ processState, worklist, submittedAt, orderId }: StateHead): Item {
  const state = listedStates[processState] ?? (processState === 'Processing' && worklist === null ? 'waiting' : undefined);
  return state !== undefined && typeof submittedAt === 'number'
    ? { errorShard: stateShardKey(state, shardOf(orderId)), listedAt: listedKey(submittedAt, orderId) }
    : {};
}

const listedStates: { readonly [state: string]: 'error' | 'pending' | undefined } = { Error: 'error', Pending: 'pending' };
