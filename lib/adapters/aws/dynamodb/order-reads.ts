import { decodeStateOf } from '#ports/errors';
import type { Store } from '#ports/store';
import { absent } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { headOf, headProjection, type Item, orderOf, stateItem, stateOf } from './items.ts';
import { keys } from './keys.ts';
import { get, getAll } from './reads.ts';
import { expireOtherRecords } from './retention.ts';
import { putIf } from './update-if.ts';

/**
 * Returns the reads of single orders. `load` may also write: it completes an expiry that a crash has interrupted. `orderWithoutState`
 * finds an order whose state is missing, and `putMissingState` replaces that state.
 */
export function dynamoDbOrderReads(context: StoreContext): Pick<Store, 'load' | 'head' | 'orderWithoutState' | 'putMissingState'> {
  const { table, retryOptions, retentionMs, withRetries, nowSeconds, isPresent } = context;

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

    async orderWithoutState(orderId) {
      const [item, state] = await withRetries(() => bothItems(orderId));
      if (!item || state || item['expiresAt'] !== undefined) return undefined;
      const order = orderOf(item);
      // After a crash, the state may have expired although the order has no expiry.
      const mayHaveExpired = retentionMs !== undefined && order.submittedAt + retentionMs < nowSeconds() * 1000;
      return mayHaveExpired ? undefined : order;
    },
    putMissingState: (state) => withRetries(() => putIf(table, stateItem(state), absent)).then(() => undefined),

    /** Reads only the attributes that say where the order stands, without its activities. Consistent, as `load` is. */
    async head(orderId) {
      const item = await withRetries(() => get(table, keys.state(orderId), headProjection));
      return isPresent(item) ? headOf(item) : undefined;
    },
  };
}
