import { type Json, isObject } from './json.ts';

/** JSON pointers of the fields that a JSON Schema marks with `"secret": true`; `*` stands for every entry of a list. */
export function secretPointers(schema: Json | undefined, pointer = ''): readonly string[] {
  if (!isObject(schema)) return [];
  if (schema['secret'] === true) return [pointer];
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [
    ...properties.flatMap(([name, property]) => secretPointers(property as Json, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)),
    ...secretPointers(schema['items'] as Json, `${pointer}/*`),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key].flatMap((each) => secretPointers(each as Json, pointer)) : [])),
  ];
}

/** What is shown in place of a secret. */
export const mask = '[secret]';

/** A copy of the value in which whatever the pointers name is masked. */
export function masked(value: Json, pointers: readonly string[]): Json {
  return pointers.reduce((result, pointer) => maskAt(result, partsOf(pointer)), value);
}

function maskAt(value: Json, [part, ...rest]: readonly string[]): Json {
  if (part === undefined) return value === undefined ? value : mask;
  if (Array.isArray(value)) return part === '*' ? value.map((entry) => maskAt(entry, rest)) : value;
  if (!isObject(value) || !Object.hasOwn(value, part)) return value;
  return { ...value, [part]: maskAt(value[part] as Json, rest) } as Json;
}

/** The texts that stand where the pointers point: what must not be repeated anywhere else. */
export function secretTexts(value: Json, pointers: readonly string[]): readonly string[] {
  return pointers.flatMap((pointer) => textsAt(value, partsOf(pointer)));
}

function textsAt(value: Json, [part, ...rest]: readonly string[]): readonly string[] {
  if (part === undefined) return textsWithin(value);
  if (Array.isArray(value)) return part === '*' ? value.flatMap((entry) => textsAt(entry, rest)) : [];
  return isObject(value) && Object.hasOwn(value, part) ? textsAt(value[part] as Json, rest) : [];
}

const textsWithin = (value: Json): readonly string[] => {
  if (typeof value === 'string') return value.length >= 4 ? [value] : [];
  if (typeof value === 'number') return String(value).length >= 4 ? [String(value)] : [];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap((entry) => textsWithin(entry as Json)) : [];
};

/** A copy in which no text repeats a secret: services like to quote what they were sent. */
export function withoutTexts<T extends Json | undefined>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0 || value === undefined) return value;
  return rewrite(value, secrets) as T;
}

function rewrite(value: Json, secrets: readonly string[]): Json {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, mask), value);
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, secrets));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, rewrite(entry as Json, secrets)]));
  return value;
}

const partsOf = (pointer: string): readonly string[] =>
  pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
