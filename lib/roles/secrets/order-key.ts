import { createHmac, hash } from 'node:crypto';
import type { Keys } from '#ports/keys';
import { decrypted, encrypted, keyBytes } from '#ports/util/cipher';

/** The key of one order. It encrypts the order's secrets, and those that it passes to called orders. */
export interface OrderKey {
  /** The order for which the key was made. It is part of what the encryption authenticates. */
  readonly orderId: string;
  readonly key: Uint8Array;
  /** The key as the order's record holds it: encrypted with the key of its day. */
  readonly wrapped: string;
}

const about = (orderId: string): string => `redress/order-key/${orderId}`;

export async function newOrderKey(orderId: string, keys: Keys): Promise<OrderKey> {
  const { day, key: dayKey } = await keys.today();
  const random = (bytes: number) => keys.random(bytes);
  const key = random(keyBytes);
  return { orderId, key, wrapped: `${day}.${encrypted(dayKey, key, about(orderId), random).toString('base64url')}` };
}

/** Decrypts the key in an order's record. `holder` is the order that holds it. */
export async function orderKeyIn(wrapped: string, holder: string, keys: Keys | undefined): Promise<OrderKey> {
  if (!keys)
    throw new Error(
      `Order ${holder} has encrypted secrets, and this process has no keys. Set REDRESS_SECRETS_KEY to the key of the deployment.`,
    );
  const [day = '', content = '', orderId = holder] = wrapped.split('.');
  const { key } = await keys.of(day);
  return { orderId, key: decrypted(key, Buffer.from(content, 'base64url'), about(orderId)), wrapped };
}

/** Returns the wrapped key for an order that gets sealed secrets from another one: the key with which they were sealed, and its order. */
export const inherited = (wrapped: string, caller: string): string => (wrapped.split('.').length > 2 ? wrapped : `${wrapped}.${caller}`);

/**
 * Returns a hash that shows whether two contents of an order are equal. With a key, nobody can find the content by trying values,
 * because only the system can compute the hash.
 */
export function contentHash(text: string, key: OrderKey | undefined): string {
  if (!key) return hash('sha256', text);
  const hashKey = createHmac('sha256', key.key).update('redress/content-hash').digest();
  return createHmac('sha256', hashKey).update(text).digest('base64url');
}
