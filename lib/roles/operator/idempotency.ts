import { hash } from 'node:crypto';
import type { Json } from '#core/data/json';
import { collections, type Documents } from '#ports/documents';
import { type Instance, keysKept } from '#roles/scheduler/instance';

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

/** The key as the last that an order remembers; the oldest gives way to it. */
export function withKey(instance: Instance, key: string | undefined): Instance {
  if (key === undefined) return instance;
  const keys = [...(instance.keys ?? []), key];
  return { ...instance, keys: keys.slice(-keysKept), ...(keys.length > keysKept ? { pagedKeys: true } : {}) };
}

/** So long a call is known again at least (api.md). */
export const keyKeptMs = 24 * 3_600_000;

type Found = ReturnType<typeof callBefore>;

/** The keys for which a state has no room, each a document that lives for a day: most orders never have one. */
export interface CallKeys {
  /** What became of a call with this key before; undefined where none is known. */
  before(orderId: string, instance: Instance, key: string | undefined): Promise<Found>;
  /** Before the write that drops the oldest key from the state: the same again changes nothing. */
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
