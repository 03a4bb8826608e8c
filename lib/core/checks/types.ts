import { isObject } from '#core/data/json';

/** What is known of a value before there is one. Where nothing is known for certain it is `unknown`, and nobody complains. */
export type Type =
  | { readonly kind: 'unknown' | 'bool' | 'null' }
  /** `whole`: one of CEL's integers, a literal or a count. What comes from JSON is a double. */
  | { readonly kind: 'number'; readonly whole: boolean }
  /** `among`: one of these and nothing else. */
  | { readonly kind: 'string'; readonly among?: readonly string[] }
  | ListType
  | ObjectType
  /** What `.?` yields. */
  | { readonly kind: 'optional'; readonly of: Type }
  /** At least two, none of them a union or unknown. None at all: no value can be there. */
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
  /** Of fields beside those: there are none, nothing is said of them, or all are of a type. */
  readonly others: 'none' | 'unsaid' | Type;
  /** Of an object that stands in a definition: the same for two that have the same fields. */
  readonly shape?: string;
}

/** Worked out when it is asked for: schemas may contain themselves. */
export interface FieldType {
  readonly type: Type;
  readonly required: boolean;
}

export const unknown: Type = { kind: 'unknown' };
export const bool: Type = { kind: 'bool' };
export const double: Type = { kind: 'number', whole: false };
export const text: Type = { kind: 'string' };
export const nothing: Type = { kind: 'null' };
/** No value: of a variable about whose assignments nothing is known yet. */
export const never: Type = { kind: 'union', of: [] };

export const objectOf = (fields: { readonly [name: string]: Type }, others: ObjectType['others'] = 'none'): ObjectType => ({
  kind: 'object',
  fields: new Map(Object.entries(fields).map(([name, type]) => [name, { type, required: true }])),
  others,
});

export const alternatives = (type: Type): readonly Type[] => (type.kind === 'union' ? type.of : [type]);
export const isNever = (type: Type): boolean => type.kind === 'union' && type.of.length === 0;

/** One of these; as little is known of it as of the least known. */
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

/** Types with the same key are taken for one, enumerations of strings aside. */
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

/** What remains of a value as JSON: all its numbers are doubles, its dates texts. */
export function asJson(type: Type): Type {
  if (type.kind === 'number') return double;
  if (type.kind === 'cel') return type.name === 'google.protobuf.Timestamp' ? text : unknown;
  if (type.kind === 'list' && type.item.kind === 'number') return { kind: 'list', item: double };
  return type.kind === 'union' ? unionOf(type.of.map(asJson)) : type;
}

/** The type of a value that stands in a definition. */
export function typeOfLiteral(value: unknown): Type {
  if (typeof value === 'string') return { kind: 'string', among: [value] };
  if (typeof value === 'number') return double;
  if (typeof value === 'bigint') return { kind: 'number', whole: true };
  if (typeof value === 'boolean') return bool;
  if (value === null) return nothing;
  return isObject(value) || Array.isArray(value) ? unknown : { kind: 'cel', name: 'other' };
}

/** For messages: `a number`, `a string or null`. */
export function described(type: Type): string {
  switch (type.kind) {
    case 'bool':
      return 'true or false';
    case 'null':
      return 'null';
    case 'object':
      return 'an object';
    case 'optional':
      return 'what may be missing (.?)';
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

/** `"a", "b" and 5 more`. */
export const listed = (names: readonly string[], most = 8): string => {
  const shown = names.slice(0, most).map((name) => JSON.stringify(name));
  return names.length > most ? `${shown.join(', ')} and ${names.length - most} more` : shown.join(', ');
};

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
