import type { Json } from '#core/data/json';
import { sealedIn, sealedText, withReplaced } from '#core/definition/sealed';
import { decrypted, encrypted } from '#ports/util/cipher';
import type { OrderKey } from './order-key.ts';

type Random = (bytes: number) => Uint8Array;

/** Encrypts one value. `origin` names where it was sealed. */
export const sealed = (value: Json, origin: string, { orderId, key }: OrderKey, random: Random): string =>
  sealedText({
    content: encrypted(key, Buffer.from(JSON.stringify(value), 'utf8'), aboutOf(orderId, origin), random).toString('base64url'),
    origin,
  });

/** Encrypts the values at the pointers. */
export const withSecretsSealed = (value: Json, pointers: readonly string[], key: OrderKey, random: Random, origin = ''): Json =>
  withReplaced(value, pointers, (secret, pointer) => sealed(secret, `${origin}${pointer}`, key, random));

/** Decrypts a sealed text. Throws if another order sealed it, or if it was changed. */
export function opened(text: string, { orderId, key }: OrderKey): Json {
  const found = sealedIn(text);
  if (!found) throw new Error('Expected a sealed text.');
  return JSON.parse(decrypted(key, Buffer.from(found.content, 'base64url'), aboutOf(orderId, found.origin)).toString('utf8')) as Json;
}

const aboutOf = (orderId: string, origin: string): string => `${orderId}#${origin}`;
