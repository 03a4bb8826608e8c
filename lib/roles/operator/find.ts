import { InvariantError, UnreadableRecordError } from '#ports/errors';
import type { Found, Orders } from '#roles/scheduler/orders';
import type { Given } from './instruction.ts';

/** Reads the order that a decision is about; resolves to undefined if it does not exist. */
export type Find = (orderId: string) => Promise<Found | undefined>;

/**
 * Runs `decide` on the order as it is stored. To undo or terminate an order, a damaged or inconsistent instance is rebuilt if
 * necessary: `decide` then runs again with another way to find the order.
 */
export async function onOrder<T>({ kind }: Given, orders: Orders, decide: (find: Find) => Promise<T>): Promise<T> {
  const stored: Find = async (orderId) => {
    const loaded = await orders.load(orderId);
    return loaded && { loaded, losses: [] };
  };
  if (kind !== 'compensate' && kind !== 'terminate') return decide(stored);

  /** Rebuilds the order unless it can be read by now: another host may have rebuilt it, and its writes must not be lost. */
  const storedOrRebuilt: Find = async (orderId) => {
    try {
      return await stored(orderId);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return orders.rebuild(orderId);
    }
  };
  for (const find of [stored, storedOrRebuilt]) {
    try {
      return await decide(find);
    } catch (error) {
      if (!(isDamage(error) || error instanceof InvariantError)) throw error;
    }
  }
  return decide((orderId) => orders.rebuild(orderId));
}

/** Whether the record is damaged. A record of another program version is not: that version may return at any time. */
const isDamage = (error: unknown): boolean => error instanceof UnreadableRecordError && error.newerUntil === undefined;
