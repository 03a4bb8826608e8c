import { isObject, type Json } from '#core/data/json';
import { mask, partsOf } from '#core/definition/secrets';
import { UsageError } from './errors.ts';

/** Places of an input that a person changes or sees changed. A place is written as in JavaScript, or as a JSON pointer. */

/**
 * Returns the input with the values of `--set`, each given as `address.postalCode=10115` or `/address/postalCode=10115`. A secret that the
 * input masks stays as it is: the API replaces its mask by the secret.
 */
export function withPlaces(input: Json, given: readonly string[]): Json {
  return given.reduce<Json>((each, text) => {
    const [, place, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (place === undefined || value === undefined)
      throw new UsageError(`Expected --set PLACE=VALUE, such as address.postalCode=10115, got ${text}.`);
    return withValue(each, placeParts(place), { place, value });
  }, input);
}

const placeParts = (place: string): readonly string[] => (place.startsWith('/') ? partsOf(place) : place.split('.'));

interface Given {
  readonly place: string;
  readonly value: string;
}

function withValue(before: Json | undefined, [part, ...rest]: readonly string[], given: Given): Json {
  if (part === undefined) return givenValue(before, given.value);
  if (Array.isArray(before)) {
    const index = Number(part);
    if (!/^\d+$/.test(part) || index >= before.length)
      throw noPlace(given, `The list there has ${before.length} entries, numbered from 0.`);
    return before.with(index, withValue(before[index], rest, given));
  }
  if (!isObject(before))
    throw noPlace(given, before === undefined ? 'The input has no value there.' : 'The value there is not an object, so it has no fields.');
  if (rest.length > 0 && !Object.hasOwn(before, part)) throw noPlace(given, `The fields there: ${Object.keys(before).join(', ')}.`);
  return { ...(before as { readonly [key: string]: Json }), [part]: withValue((before as { [key: string]: Json })[part], rest, given) };
}

const noPlace = ({ place }: Given, why: string): UsageError => new UsageError(`The input has no ${place}. ${why}`);

/** Parses a value as JSON, or else takes it as text. A place that holds text keeps text: a postal code is not a number. */
function givenValue(before: Json | undefined, text: string): Json {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    return text;
  }
  return typeof before === 'string' && typeof parsed !== 'string' ? text : parsed;
}

/** Returns one line for each place at which two inputs differ: `address.postalCode: "00000" becomes "10115"`. */
export function changedPlaces(before: Json | undefined, after: Json | undefined, place = ''): readonly string[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      changedPlaces(before[name] as Json | undefined, after[name] as Json | undefined, place === '' ? name : `${place}.${name}`),
    );
  }
  const [was, is] = [before, after].map((each) => (each === undefined ? 'nothing' : JSON.stringify(each)));
  return was === is ? [] : [`${place === '' ? 'the input' : place}: ${was} becomes ${is}`];
}

/** The most places of an input among which the likely one is searched. */
const placesMax = 500;

/**
 * Returns the place of an input that a text about a fault is most likely about: the place whose value the text quotes, or else the place
 * with the most words of its path in the text; the first of equals. Undefined if no place can be set.
 */
export function likelyPlace(input: Json | undefined, text: string): string | undefined {
  const ofText = wordsOf(text);
  const ranked = placesOf(input, [])
    .slice(0, placesMax)
    .map(({ parts, value }) => {
      const words = parts.flatMap((part) => [...wordsOf(part)]);
      const named = words.filter((word) => ofText.has(word)).length;
      const quotes = typeof value === 'string' && value.length > 2 && text.includes(value) ? 10 : 0;
      return { place: parts.join('.'), score: named + quotes };
    });
  return ranked.toSorted((one, other) => other.score - one.score)[0]?.place;
}

/** Returns the words of a text or a name in lowercase: `postalCode` has two. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]{2,}/g) ?? [],
  );

interface Place {
  readonly parts: readonly string[];
  readonly value: Json;
}

/** Returns the places of an input that hold a value which is not masked, and whose names need no quotes. */
function placesOf(value: Json | undefined, parts: readonly string[]): readonly Place[] {
  if (value === undefined || value === mask) return [];
  if (value === null || typeof value !== 'object') return parts.length === 0 ? [] : [{ parts, value }];
  return Object.entries(value as { readonly [name: string]: Json }).flatMap(([name, each]) =>
    /^[\w-]+$/.test(name) ? placesOf(each, [...parts, name]) : [],
  );
}
