import * as fc from 'fast-check';
import type { Operation } from './document.ts';

/** Draws a value; the same seed draws the same values. */
export type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T;

export const oneOf = <T>(draw: Draw, values: readonly T[]): T => draw(fc.constantFrom(...values));

/** Texts on which careless parsers fail: control characters, quotes, other scripts, long and empty ones. */
export const text = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 300 }))
  .map((each) => each.toWellFormed());

/** A request while it is being made: at first the system would accept it, then defects are added. */
export interface Draft {
  readonly operation: Operation;
  method: string;
  path: string;
  /** Parameters of the query, percent-encoded. */
  readonly query: [string, string][];
  readonly headers: { [name: string]: string };
  /** The body as data, until a defect replaces it by bytes. */
  body: unknown;
  bytes: Buffer | undefined;
}

/** Data that exists in the system. A request that refers to it is bad in nothing but its defects. */
export interface Surroundings {
  readonly tokens: { readonly [role: string]: string };
  /** A blocked order of `acme`, and a finished one of another client. */
  readonly own: { readonly orderId: string; readonly etag: string };
  readonly foreign: string;
  /** The task of the blocked order. */
  readonly task: string;
  /** An idempotency key that `acme` has used. */
  readonly usedKey: string;
  /** A channel with a dead letter, and the id of that letter. */
  readonly channel: string;
  readonly deadLetter: string;
  /** The registration of `acme`. */
  readonly client: { readonly id: string; readonly etag: string };
  /** A cursor of each list that has a second page, by the path of the list. */
  readonly cursors: { readonly [path: string]: string };
}

/** Makes a request that the system would accept. */
export function rightDraft(operation: Operation, around: Surroundings, body: unknown, number: number): Draft {
  const { method, path, parameters, roles } = operation;
  const ids = { orders: around.own.orderId, clients: around.client.id, tasks: around.task };
  const id = Object.entries(ids).find(([part]) => path.startsWith(`/${part}`))?.[1] ?? around.deadLetter;
  const token = around.tokens[roles.find((role) => around.tokens[role]) ?? ''];
  const has = (name: string): boolean => parameters.some((each) => each.in === 'header' && each.name === name);
  return {
    operation,
    method,
    path: path.replace('{id}', encodeURIComponent(id)).replace('{name}', path.startsWith('/channels') ? around.channel : 'go'),
    query: [],
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(operation.body ? { 'content-type': 'application/json' } : {}),
      ...(has('idempotency-key') ? { 'idempotency-key': `bad-${number}` } : {}),
      ...(has('if-match') ? { 'if-match': path.startsWith('/clients') ? around.client.etag : around.own.etag } : {}),
    },
    body,
    bytes: undefined,
  };
}

/** A marker in a body. After `JSON.stringify`, it is replaced by raw text that `JSON.stringify` would never write. */
export const marker = '@@here@@';

/** Returns a copy of the data with another value at the path. Missing objects on the way are created. */
export function withValueAt(data: unknown, [first, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(data)) return data.map((entry, index) => (index === first ? withValueAt(entry, rest, value) : entry));
  const object = (data ?? {}) as { readonly [name: string]: unknown };
  return { ...object, [first]: withValueAt(object[first], rest, value) };
}
