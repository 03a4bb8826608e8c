import { hash } from 'node:crypto';
import type { Json } from '#core/data/json';
import { collections, type Documents } from '#ports/documents';
import { type Instance, keysKept } from '#roles/scheduler/instance';
import { contentHash, type OrderKey } from '#roles/secrets/order-key';

/** An API call with an idempotency key. */
export interface CallKey {
  /** A hash of its caller and key. */
  readonly name: string;
  /** Its content, which may hold secrets. */
  readonly asked: Json;
}

export const callKey = (caller: string, key: string, asked: Json): CallKey => ({ name: shortHash([caller, key], undefined), asked });

/**
 * Returns the key of a call as the order keeps it: a hash of its caller and its key, and a hash of its content, keyed with the order's key.
 * Each has 96 bits, to keep the order's record short.
 */
export const storedCallKey = ({ name, asked }: CallKey, key: OrderKey | undefined): string => `${name}.${shortHash(asked, key)}`;

/** An earlier API call with the same key. `exception`: the number of the exception that it reported. */
export type CallBefore = { readonly outcome: 'replayed'; readonly exception?: number } | { readonly outcome: 'key-reused' };

/** Returns the call that had this key before; undefined if there was none. */
export function callBefore(keys: readonly string[] | undefined, key: string | undefined): CallBefore | undefined {
  const [name, content] = key?.split('.') ?? [];
  const before = keys?.findLast((each) => each.split('.')[0] === name);
  if (before === undefined) return undefined;
  const [, contentBefore, exception] = before.split('.');
  if (contentBefore !== content) return { outcome: 'key-reused' };
  return { outcome: 'replayed', ...(exception === undefined ? {} : { exception: Number(exception) }) };
}

/** Adds to the key of a call the number of the exception that the call has reported. */
export const withException = (key: string | undefined, seq: number): string | undefined =>
  key === undefined ? undefined : `${key}.${seq}`;

const shortHash = (value: Json, key: OrderKey | undefined): string => {
  const text = JSON.stringify(value);
  return (key ? contentHash(text, key) : hash('sha256', text, 'base64url')).slice(0, 16);
};

/** Adds a key to the instance. Above the limit, the oldest key is dropped. */
export function withKey(instance: Instance, key: string | undefined): Instance {
  if (key === undefined) return instance;
  const keys = [...(instance.keys ?? []), key];
  return { ...instance, keys: keys.slice(-keysKept), ...(keys.length > keysKept ? { pagedKeys: true } : {}) };
}

/** The least time for which a repeated call is recognized. */
export const keyKeptMs = 24 * 3_600_000;

/** The keys that a state has dropped, each as a document for one day. Most orders have none. */
export interface CallKeys {
  /** Finds an earlier API call with this key; resolves to undefined if there is none. */
  before(orderId: string, instance: Instance, key: string | undefined): Promise<CallBefore | undefined>;
  /** Stores the oldest key before a write drops it from the state. Idempotent. */
  pageOut(orderId: string, instance: Instance): Promise<void>;
}

export function createCallKeys({ document, putDocument }: Pick<Documents, 'document' | 'putDocument'>, now: () => number): CallKeys {
  const idOf = (key: string): string => key.split('.')[0] ?? key;
  return {
    async before(orderId, { keys, pagedKeys: keysAside }, key) {
      const found = callBefore(keys, key);
      if (found !== undefined || key === undefined || !keysAside) return found;
      const aside = await document(collections.calls(orderId), idOf(key));
      return aside && (aside.expiresAt ?? 0) > now() ? callBefore([String(aside.content['key'])], key) : undefined;
    },
    async pageOut(orderId, { keys: [key, ...others] = [] }) {
      if (key === undefined || others.length + 1 < keysKept) return;
      const [collection, id] = [collections.calls(orderId), idOf(key)];
      const aside = (rev: number) => ({ collection, id, rev, content: { key }, expiresAt: now() + keyKeptMs });
      const write = await putDocument(aside(1), 0);
      const old = write.outcome === 'refused' ? write.current : null;
      if (old && (old.content['key'] !== key || (old.expiresAt ?? 0) <= now())) await putDocument(aside(old.rev + 1), old.rev);
    },
  };
}
