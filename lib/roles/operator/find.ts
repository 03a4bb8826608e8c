import { rootPath } from '#core/definition/definition';
import { InvariantError, isDamage } from '#ports/errors';
import type { Found, Orders } from '#roles/scheduler/orders';
import type { Given } from './instruction.ts';

/** Reads the order that an API call is about; resolves to undefined if it does not exist. */
export type Find = (orderId: string) => Promise<Found | undefined>;

/**
 * Runs `decide` on the order as it is stored. If its instance is damaged or inconsistent, `decide` runs again on the instance that the
 * journal tells exactly. If the journal tells no exact instance, and the instruction undoes or ends the order, `decide` runs on a rebuilt
 * instance that allows only that.
 */
export async function onOrder<T>(given: Given, orders: Orders, decide: (find: Find) => Promise<T>): Promise<T> {
  const found = (read: Orders['load']) => async (orderId: string) => {
    const loaded = await read(orderId);
    return loaded && { loaded, losses: [] };
  };
  const stored: Find = found(orders.load);
  /**
   * Reads the stored instance if it has become readable: another host may have rebuilt and continued it, and the writes of that host must
   * not be lost.
   */
  const storedOr =
    (read: Find): Find =>
    (orderId) =>
      stored(orderId).catch((error) => {
        if (!isDamage(error)) throw error;
        return read(orderId);
      });
  const refolded: Find = found(orders.refold);
  const { kind } = given;
  const ends = (kind === 'compensate' && (given.path ?? rootPath) === rootPath) || kind === 'terminate';
  const ways = [stored, storedOr(refolded), refolded, ...(ends ? [storedOr(orders.rebuild), orders.rebuild] : [])];
  let shown: unknown;
  for (const find of ways) {
    try {
      return await decide(find);
    } catch (error) {
      if (!(isDamage(error) || error instanceof InvariantError)) throw error;
      // An InvariantError is kept: the reason of a refused rebuild would explain damage, but not a violated invariant.
      shown = shown instanceof InvariantError ? shown : error;
    }
  }
  throw shown;
}
