import { hash } from 'node:crypto';
import type { Json } from './core/json.ts';

/**
 * What an order remembers of a call with an idempotency key: who gave which key, and what was asked with it. Short, for
 * it is written along with the order: 96 bits each, of SHA-256.
 */
export const callKey = (caller: string, key: string, asked: Json): string => `${short([caller, key])}.${short(asked)}`;

/** `replayed`: the same call was carried out before; `reused`: another one had this key. */
export function callBefore(keys: readonly string[] | undefined, key: string | undefined): 'replayed' | 'reused' | undefined {
  const [given] = key?.split('.') ?? [];
  const before = keys?.findLast((each) => each.split('.')[0] === given);
  if (before === undefined) return undefined;
  return before === key ? 'replayed' : 'reused';
}

const short = (value: Json): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 16);
