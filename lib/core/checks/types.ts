import { isObject } from '#core/data/json';

/**
 * The static type of a value in an expression. A type that is not certain is `unknown`, and the check reports no mistake about its values.
 */
export type Type =
  | { readonly kind: 'unknown' | 'bool' | 'null' }
  /** `whole`: an integer of CEL, such as a literal or a count. Numbers from JSON are doubles. */
  | { readonly kind: 'number'; readonly whole: boolean }
  /** `among`: the only possible texts. */
  | { readonly kind: 'string'; readonly among?: readonly string[] }
  | ListType
  | ObjectType
  /** The result of `.?`. */
  | { readonly kind: 'optional'; readonly of: Type }
  /** Two types or more, none of them a union or unknown; or no type, if no value is possible. */
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  /** A type of CEL that JSON does not have: a timestamp, a duration. */
  | { readonly kind: 'cel'; readonly name: string };

export interface ListType {
  readonly kind: 'list';
  readonly item: Type;
}

export interface ObjectType {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Other fields: none, unspecified, or all of one type. */
  readonly others: 'none' | 'unsaid' | Type;
  /** The fields of an object written in a definition, as one text, which is equal for two objects with the same fields. */
  readonly shape?: string;
}

/** A field's type, computed on access because schemas may be recursive. */
export interface FieldType {
  readonly type: Type;
  readonly required: boolean;
}

export const unknown: Type = { kind: 'unknown' };
export const bool: Type = { kind: 'bool' };
export const double: Type = { kind: 'number', whole: false };
export const text: Type = { kind: 'string' };
export const nothing: Type = { kind: 'null' };
/** The type without any value: the initial type of a variable. */
export const never: Type = { kind: 'union', of: [] };

export const objectOf = (fields: { readonly [name: string]: Type }, others: ObjectType['others'] = 'none'): ObjectType => ({
  kind: 'object',
  fields: new Map(Object.entries(fields).map(([name, type]) => [name, { type, required: true }])),
  others,
});

export const alternatives = (type: Type): readonly Type[] => (type.kind === 'union' ? type.of : [type]);
export const isNever = (type: Type): boolean => type.kind === 'union' && type.of.length === 0;

/** Returns the union of types. It is `unknown` if one of them is. */
export function unionOf(types: readonly Type[]): Type {
  const all = types.flatMap(alternatives);
  if (all.some(({ kind }) => kind === 'unknown')) return unknown;
  const kinds = new Map<string, Type>();
  for (const type of all) {
    const key = keyOf(type);
    const known = kinds.get(key);
    kinds.set(key, known?.kind === 'string' && type.kind === 'string' ? oneOfBoth(known.among, type.among) : type);
  }
  const [only, ...others] = kinds.values();
  return only && others.length === 0 ? only : { kind: 'union', of: [...kinds.values()] };
}

const oneOfBoth = (one: readonly string[] | undefined, other: readonly string[] | undefined): Type =>
  one && other ? { kind: 'string', among: [...new Set([...one, ...other])] } : text;

/** Returns the identity of a type. Types with the same key count as equal, except for enumerations of strings. */
export function keyOf(type: Type): string {
  switch (type.kind) {
    case 'number':
      return type.whole ? 'int' : 'double';
    case 'cel':
      return type.name;
    case 'list':
    case 'object':
      return `${type.kind} ${identityOf(type)}`;
    case 'optional':
      return `optional ${keyOf(type.of)}`;
    case 'union':
      return type.of.map(keyOf).sort().join('|');
    default:
      return type.kind;
  }
}

const identities = new WeakMap<Type, number>();
let lastIdentity = 0;
function identityOf(type: ListType | ObjectType): string {
  if (type.kind === 'object' && type.shape !== undefined) return type.shape;
  // A list of lists may contain itself.
  if (type.kind === 'list' && !['list', 'union'].includes(type.item.kind)) return keyOf(type.item);
  const known = identities.get(type) ?? ++lastIdentity;
  identities.set(type, known);
  return String(known);
}

/** Returns the type of a value after conversion to JSON: numbers become doubles, dates become texts. */
export function asJson(type: Type): Type {
  if (type.kind === 'number') return double;
  if (type.kind === 'cel') return type.name === 'google.protobuf.Timestamp' ? text : unknown;
  if (type.kind === 'list' && type.item.kind === 'number') return { kind: 'list', item: double };
  return type.kind === 'union' ? unionOf(type.of.map(asJson)) : type;
}

/** Returns the type of a literal in a definition. */
export function typeOfLiteral(value: unknown): Type {
  if (typeof value === 'string') return { kind: 'string', among: [value] };
  if (typeof value === 'number') return double;
  if (typeof value === 'bigint') return { kind: 'number', whole: true };
  if (typeof value === 'boolean') return bool;
  if (value === null) return nothing;
  return isObject(value) || Array.isArray(value) ? unknown : { kind: 'cel', name: 'other' };
}

/** Returns a type as words for messages: `a number`, `a string or null`. */
export function described(type: Type): string {
  switch (type.kind) {
    case 'bool':
      return 'true or false';
    case 'null':
      return 'null';
    case 'object':
      return 'an object';
    case 'optional':
      return 'an optional value (.?)';
    case 'union':
      return [...new Set(type.of.map(described))].join(' or ');
    case 'cel':
      return `a ${type.name.split('.').at(-1)?.toLowerCase()}`;
    case 'unknown':
      return 'anything';
    default:
      return `a ${type.kind}`;
  }
}

/** Returns a list of names: `"a", "b" and 5 more`. */
export const listed = (names: readonly string[], most = 8): string => {
  const shown = names.slice(0, most).map((name) => JSON.stringify(name));
  return names.length > most ? `${shown.join(', ')} and ${names.length - most} more` : shown.join(', ');
};

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
