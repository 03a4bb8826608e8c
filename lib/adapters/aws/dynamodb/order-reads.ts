import { decodeStateOf } from '#ports/errors';
import type { Store } from '#ports/store';
import type { StoreContext } from './context.ts';
import { headOf, headProjection, type Item, orderOf, stateOf } from './items.ts';
import { keys } from './keys.ts';
import { get, getAll } from './reads.ts';
import { expireOtherRecords } from './retention.ts';

/** Returns the reads of single orders. `load` may also write: it completes an expiry that a crash has interrupted. */
export function dynamoDbOrderReads(context: StoreContext): Pick<Store, 'load' | 'head'> {
  const { table, retryOptions, withRetries, isPresent } = context;

  async function bothItems(orderId: string): Promise<readonly (Item | undefined)[]> {
    const wanted = [keys.order(orderId), keys.state(orderId)];
    const items = await getAll(table, wanted, { ...retryOptions, consistent: true });
    return wanted.map(({ sk }) => items.find((item) => item['sk'] === sk));
  }

  return {
    async load(orderId) {
      const [order, state] = await withRetries(() => bothItems(orderId));
      if (!order || !isPresent(state)) return undefined;
      // The write that ends an order sets the expiry of the state alone, and the other records follow. If that process has crashed in
      // between, this load completes the expiry. Otherwise the state would expire and the other records would stay.
      if (state['expiresAt'] !== undefined && order['expiresAt'] !== state['expiresAt']) await expireOtherRecords(context, state);
      const submitted = orderOf(order);
      return { order: submitted, state: decodeStateOf(submitted, () => stateOf(state)) };
    },

    /** Reads only the attributes that say where the order stands, without its activities. Consistent, as `load` is. */
    async head(orderId) {
      const item = await withRetries(() => get(table, keys.state(orderId), headProjection));
      return isPresent(item) ? headOf(item) : undefined;
    },
  };
}
