import { isObject, type Json } from '#core/data/json';
import { linearPattern } from './pattern.ts';
import { mask, partsOf, referred } from './secrets.ts';

/**
 * A sealed secret: its encrypted content in base64url, and its origin: the path of the activity and the JSON pointer to
 * the field where it was sealed. The encryption authenticates the origin.
 */
export interface Sealed {
  readonly content: string;
  readonly origin: string;
}

/** Matches the text of a sealed secret. The content has at least 28 bytes: a nonce and an authentication tag. */
const form = /^sealed:1:([A-Za-z0-9_-]{38,}):(.*)$/s;

/** Returns a sealed secret as a text. Expressions pass it on like any other value. */
export const sealedText = ({ content, origin }: Sealed): string => `sealed:1:${content}:${origin}`;

/** Returns the parts of a sealed secret; undefined for any other value. */
export function sealedIn(value: unknown): Sealed | undefined {
  const [, content, origin] = (typeof value === 'string' && form.exec(value)) || [];
  return content === undefined || origin === undefined ? undefined : { content, origin };
}

export const isSealed = (value: unknown): boolean => sealedIn(value) !== undefined;

/** Whether a value holds a sealed secret. */
export const holdsSealed = (value: Json): boolean => JSON.stringify(value).includes('"sealed:1:');

/** Returns a copy in which masks replace the sealed secrets. */
export function withoutSealed<T extends Json>(value: T): T {
  return (holdsSealed(value) ? withSealedReplaced(value, () => mask) : value) as T;
}

/** Returns a copy with each sealed secret replaced. `pointer` has the keys that lead to the secret. */
export function withSealedReplaced(
  value: Json,
  replace: (text: string, pointer: readonly string[]) => Json,
  at: readonly string[] = [],
): Json {
  if (isSealed(value)) return replace(value as string, at);
  if (Array.isArray(value)) return value.map((entry, index) => withSealedReplaced(entry, replace, [...at, String(index)]));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withSealedReplaced(entry as Json, replace, [...at, key])]));
}

/** Returns a copy with the values at the pointers replaced. `*` in them stands for every entry or field. `replace` gets the pointer of each match. */
export function withReplaced(value: Json, pointers: readonly string[], replace: (value: Json, pointer: string) => Json): Json {
  return pointers.reduce((result, pointer) => replacedAt(result, partsOf(pointer), replace, ''), value);
}

function replacedAt(value: Json, [part, ...rest]: readonly string[], replace: (value: Json, pointer: string) => Json, at: string): Json {
  if (part === undefined) return replace(value, at);
  const inside = (entry: Json, key: string): Json =>
    part === '*' || part === key ? replacedAt(entry, rest, replace, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`) : entry;
  if (Array.isArray(value)) return value.map((entry, index) => inside(entry, String(index)));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, inside(entry as Json, key)])) : value;
}

/**
 * Whether a JSON Schema declares the field at a path: the schema names the field, has a schema for it (`items`, `additionalProperties`),
 * or allows any value at some part of the path (`true`, `{}`). A schema of an object without `additionalProperties` accepts unknown
 * fields, but does not declare them.
 */
export function declares(schema: Json | undefined, path: readonly string[], root: Json | undefined = schema, depth = 0): boolean {
  if (schema === true) return true;
  if (!isObject(schema) || depth > 64) return false;
  const [part, ...rest] = path;
  if (part === undefined) return true;
  const within = (inner: unknown, further: readonly string[] = rest) => declares(inner as Json, further, root, depth + 1);
  const { $ref, properties, patternProperties, prefixItems, items, additionalProperties } = schema;
  if (typeof $ref === 'string' && within(referred(root, $ref), path)) return true;
  if (['anyOf', 'oneOf', 'allOf'].some((key) => Array.isArray(schema[key]) && schema[key].some((each) => within(each, path)))) return true;
  if (isObject(properties) && Object.hasOwn(properties, part)) return within(properties[part]);
  const matching = Object.entries(isObject(patternProperties) ? patternProperties : {}).filter(([source]) => matches(source, part));
  if (matching.length > 0) return matching.some(([, each]) => within(each));
  if (Array.isArray(prefixItems) && prefixItems[Number(part)] !== undefined) return within(prefixItems[Number(part)]);
  if (items !== undefined || additionalProperties !== undefined) return within(items) || within(additionalProperties);
  // A schema with none of these keywords says nothing about the shape of a value.
  return !ofShape.some((key) => key in schema);
}

const ofShape = ['$ref', 'properties', 'patternProperties', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'type', 'enum', 'const'];

/** Whether a pattern matches the name of a field. RE2 does not support every pattern; such a pattern counts as matching. */
const matches = (source: string, name: string): boolean => linearPattern(source)?.test(name) ?? true;
