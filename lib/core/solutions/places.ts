import { isObject, type Json } from '#core/data/json';
import type { SolutionValues } from './solution.ts';

/** A parameter's place in an instruction. */
export interface Place {
  readonly name: string;
  /** The fields and positions on the way to its text. */
  readonly path: readonly (string | number)[];
  /** Whether the place is the whole text, so that any value may take it. */
  readonly isAlone: boolean;
}

const place = /\{\{\s*([A-Za-z][A-Za-z0-9_]{0,63})\s*\}\}/g;
const alone = /^\{\{\s*([A-Za-z][A-Za-z0-9_]{0,63})\s*\}\}$/;

/** Yields the places of a value, in their order. */
export function* placesIn(value: Json, path: Place['path'] = []): Generator<Place> {
  if (typeof value === 'string') for (const [, name = ''] of value.matchAll(place)) yield { name, path, isAlone: alone.test(value) };
  else if (Array.isArray(value)) for (const [index, entry] of value.entries()) yield* placesIn(entry, [...path, index]);
  else if (isObject(value)) for (const [key, entry] of Object.entries(value)) yield* placesIn(entry as Json, [...path, key]);
}

/** Yields the paths of texts with braces that do not form a place, such as `{{amount`. */
export function* brokenPlacesIn(value: Json, path: Place['path'] = []): Generator<Place['path']> {
  if (typeof value === 'string') {
    if (/\{\{|\}\}/.test(value.replaceAll(place, ''))) yield path;
  } else if (Array.isArray(value)) for (const [index, entry] of value.entries()) yield* brokenPlacesIn(entry, [...path, index]);
  else if (isObject(value)) for (const [key, entry] of Object.entries(value)) yield* brokenPlacesIn(entry as Json, [...path, key]);
}

/**
 * Fills the places of a value. A place alone in its text becomes the value of its parameter; a place within a text becomes the text of
 * that value. A filled value is not searched for further places, and a place without a value stays.
 */
export function filledPlaces<T extends Json>(value: T, values: SolutionValues): T;
export function filledPlaces(value: Json, values: SolutionValues): Json {
  if (typeof value === 'string') return filledText(value, values);
  if (Array.isArray(value)) return value.map((entry) => filledPlaces(entry, values));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filledPlaces(entry as Json, values)]));
}

/** Whether a value is an expression, which is computed for each order. */
export const isComputed = (value: Json | undefined): boolean => isObject(value) && Object.hasOwn(value, '$cel');

/** Returns the parameters whose value is an expression although a place of theirs is within a text, which takes no expression. */
export const computedWithinText = (value: Json, values: SolutionValues): readonly string[] => [
  ...new Set([...placesIn(value)].flatMap(({ name, isAlone }) => (!isAlone && isComputed(values[name]) ? [name] : []))),
];

function filledText(text: string, values: SolutionValues): Json {
  const only = alone.exec(text)?.[1];
  if (only !== undefined) return Object.hasOwn(values, only) ? (values[only] as Json) : text;
  return text.replaceAll(place, (whole, name: string) => (Object.hasOwn(values, name) ? textOf(values[name] as Json) : whole));
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
