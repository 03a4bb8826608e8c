import { isObject, type Json } from '#core/data/json';
import { longSecrets, withoutForms } from './secret-forms.ts';

/**
 * Returns JSON pointers to the fields that a JSON Schema marks with `"secret": true`; `*` stands for every entry of a
 * list or an object. A recursive schema is followed to its first repetition, which counts as secret as a whole.
 */
export function secretPointers(schema: Json | undefined): readonly string[] {
  if (!isObject(schema)) return [];
  const known = pointersOf.get(schema);
  if (known) return known;
  const pointers = JSON.stringify(schema).includes('"secret":true') ? pointersWithin(schema, '', schema, []) : [];
  pointersOf.set(schema, pointers);
  return pointers;
}

/** The pointers of each schema, cached: schemas do not change, and every message of an order needs the same ones. */
const pointersOf = new WeakMap<object, readonly string[]>();

function pointersWithin(
  schema: Json | undefined,
  pointer: string,
  root: Json | undefined,
  references: readonly string[],
): readonly string[] {
  if (!isObject(schema)) return [];
  if (schema['secret'] === true) return [pointer];
  const { $ref } = schema;
  return [
    ...(typeof $ref === 'string' ? pointersBehind($ref, pointer, root, references) : []),
    ...partsIn(schema, pointer).flatMap(([part, at]) => pointersWithin(part as Json, at, root, references)),
  ];
}

/** Returns the pointers behind a reference. If the reference repeats, or leads nowhere, the value counts as secret as a whole. */
function pointersBehind(reference: string, pointer: string, root: Json | undefined, references: readonly string[]): readonly string[] {
  const part = references.includes(reference) ? undefined : referred(root, reference);
  return part === undefined ? [pointer] : pointersWithin(part, pointer, root, [...references, reference]);
}

/** Keywords whose schemas apply to entries or fields that they do not name. */
const ofEntries = ['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'];

/** Keywords whose schemas apply to the value itself. A name of a field has no pointer, so a secret name makes the whole object secret. */
const ofWhole = ['anyOf', 'oneOf', 'allOf', 'if', 'then', 'else', 'not', 'propertyNames'];

/** Keywords with one schema for each name, which apply to the value itself. */
const ofWholeByName = ['dependentSchemas', 'dependencies'];

/** Returns the schemas inside a schema, each with the pointer to the values to which it applies. */
function partsIn(schema: { readonly [keyword: string]: unknown }, pointer: string): readonly (readonly [part: unknown, at: string])[] {
  const { properties, patternProperties, prefixItems, items } = schema;
  const listed = (parts: unknown, at: (index: number) => string) =>
    Array.isArray(parts) ? parts.map((part, index) => [part, at(index)] as const) : [];
  const named = (parts: unknown, at: (name: string) => string) =>
    isObject(parts) ? Object.entries(parts).map(([name, part]) => [part, at(name)] as const) : [];
  return [
    ...named(properties, (name) => `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ...listed(prefixItems ?? items, (index) => `${pointer}/${index}`),
    ...named(patternProperties, () => `${pointer}/*`),
    ...ofEntries.map((keyword) => [schema[keyword], `${pointer}/*`] as const),
    ...ofWhole.flatMap((keyword) => [[schema[keyword], pointer] as const, ...listed(schema[keyword], () => pointer)]),
    ...ofWholeByName.flatMap((keyword) => named(schema[keyword], () => pointer)),
  ];
}

/** Resolves a reference such as `#/$defs/Payer`; undefined for any other form, and if the root has no such part. */
export const referred = (root: Json | undefined, reference: string): Json | undefined =>
  /^#(\/|$)/.test(reference)
    ? partsOf(reference).reduce<Json | undefined>((schema, part) => (isObject(schema) ? (schema[part] as Json) : undefined), root)
    : undefined;

/** The text that replaces a secret. */
export const mask = '[secret]';

/** Returns a copy of the value with every field that the pointers name masked. */
export function masked(value: Json, pointers: readonly string[]): Json {
  return pointers.reduce((result, pointer) => maskAt(result, partsOf(pointer)), value);
}

function maskAt(value: Json, [part, ...rest]: readonly string[]): Json {
  if (part === undefined) return mask;
  const inside = (entry: Json, key: string): Json => (part === '*' || part === key ? maskAt(entry, rest) : entry);
  if (Array.isArray(value)) return value.map((entry, index) => inside(entry, String(index)));
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, inside(entry as Json, key)])) : value;
}

/** Returns the texts at the pointers. They must not appear anywhere else. */
export const secretTexts = (value: Json, pointers: readonly string[]): readonly string[] => valuesAt(value, pointers).flatMap(textsWithin);

/** Returns the values at the pointers. */
export const valuesAt = (value: Json, pointers: readonly string[]): readonly Json[] =>
  pointers.flatMap((pointer) => valuesOf(value, partsOf(pointer)));

function valuesOf(value: Json, [part, ...rest]: readonly string[]): readonly Json[] {
  if (part === undefined) return [value];
  if (!isObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, entry]) => (part === '*' || part === key ? valuesOf(entry as Json, rest) : []));
}

/** Returns the texts in a secret value. Texts of less than four characters are left out: they would match parts of ordinary words. */
export const textsWithin = (value: Json): readonly string[] => {
  if (typeof value === 'string') return value.length >= 4 ? [value] : [];
  if (typeof value === 'number') return String(value).length >= 4 ? [String(value)] : [];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap((entry) => textsWithin(entry as Json)) : [];
};

/**
 * Returns a copy in which no text repeats a secret: services often quote their input in error messages. A secret of eight or more
 * characters is also found in upper or lower case, with other spaces or dashes, in base64 and in a URL. Its hash, its parts and other
 * encodings of it are not found.
 */
export function withoutTexts<T extends Json | undefined>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0 || value === undefined) return value;
  // Longest first, because one secret may be part of another.
  const texts = secrets.toSorted((a, b) => b.length - a.length);
  const forms = longSecrets(texts);
  const hidden = (text: string): string =>
    withoutForms(
      texts.reduce((rest, secret) => rest.replaceAll(secret, mask), text),
      forms,
      mask,
    );
  return rewrite(value, hidden, secrets) as T;
}

function rewrite(value: Json, hidden: (text: string) => string, secrets: readonly string[]): Json {
  if (typeof value === 'string') return hidden(value);
  if (typeof value === 'number') return secrets.includes(String(value)) ? mask : value;
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, hidden, secrets));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [hidden(key), rewrite(entry as Json, hidden, secrets)]));
  return value;
}

/** Returns the parts of a JSON pointer. */
export const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
