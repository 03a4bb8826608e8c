import { stateBehind } from '#ports/errors';
import type { Store } from '#ports/store';
import type { StoreContext } from './context.ts';
import { headOf, headProjection, type Item, orderOf, stateOf } from './items.ts';
import { keys } from './keys.ts';
import { get, getAll } from './reads.ts';
import { expireRest } from './retention.ts';

/** Reads one order. */
export function dynamoDbOrderReads(context: StoreContext): Pick<Store, 'load' | 'head'> {
  const { table, retry, attempt, isLive } = context;

  async function bothItems(orderId: string): Promise<readonly (Item | undefined)[]> {
    const wanted = [keys.order(orderId), keys.state(orderId)];
    const items = await getAll(table, wanted, { ...retry, consistent: true });
    return wanted.map(({ sk }) => items.find((item) => item['sk'] === sk));
  }

  return {
    async load(orderId) {
      const [order, state] = await attempt(() => bothItems(orderId));
      if (!order || !isLive(state)) return undefined;
      // The process that ended the order crashed before it reached these records, or is still at work.
      if (state['expiresAt'] !== undefined && order['expiresAt'] !== state['expiresAt']) await expireRest(context, state);
      const submitted = orderOf(order);
      return { order: submitted, state: stateBehind(submitted, () => stateOf(state)) };
    },

    async head(orderId) {
      const item = await attempt(() => get(table, keys.state(orderId), headProjection));
      return isLive(item) ? headOf(item) : undefined;
    },
  };
}
