import type { CallerRef, StateHead } from '#ports/records';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { keys, orderIdIn } from './keys.ts';
import { leftoversIn } from './leftovers.ts';
import { get } from './reads.ts';

/**
 * Returns the expiry of a finished order, in seconds since 1970. An unfinished order has none, and without a retention no order has one.
 */
export const expiryOf = ({ retentionMs }: StoreContext, { processState, worklist, updatedAt }: StateHead): number | undefined =>
  retentionMs === undefined || processState !== 'Processed' || worklist !== null ? undefined : Math.floor((updatedAt + retentionMs) / 1000);

/** Returns the order that called this one. While the caller exists, it may compensate this order or request its answer. */
export async function callerOf({ table, withRetries }: StoreContext, orderId: string): Promise<string | undefined> {
  const order = await withRetries(() => get(table, keys.order(orderId), ['caller']));
  return order?.['caller'] === undefined ? undefined : (JSON.parse(String(order['caller'])) as CallerRef).orderId;
}

/** Whether an order still keeps its called orders: it exists and has no expiry. */
export async function keepsWhatItCalled({ table, withRetries }: StoreContext, orderId: string): Promise<boolean> {
  const state = await withRetries(() => get(table, keys.state(orderId), ['pk', 'expiresAt']));
  return state !== undefined && state['expiresAt'] === undefined;
}

/**
 * Gives the records beside the state their expiry, after the write that ends the order. Earlier would be wrong: that write may be refused,
 * and the records of an unfinished order would expire. A failure here only delays the deletion, until the next load, write or submission
 * of the order.
 */
export const expireOtherRecords = (context: StoreContext, { pk, rev, expiresAt }: Item): Promise<void> =>
  leftoversIn(context)
    .expire(orderIdIn(String(pk)), Number(rev), Number(expiresAt))
    .catch(() => undefined);
