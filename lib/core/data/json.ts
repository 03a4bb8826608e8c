/** A value that survives `JSON.parse(JSON.stringify(x))` unchanged. Definitions, states and messages hold nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();

/** Returns the number of UTF-8 bytes of a value as JSON. */
export const utf8Bytes = (value: Json): number => encoder.encode(JSON.stringify(value)).length;

/**
 * Whether a value as JSON has at most this many UTF-8 bytes. A UTF-16 unit takes at most three bytes, so most values
 * are short enough to skip the encoding.
 */
export function fits(value: Json, bytesMax: number): boolean {
  const text = JSON.stringify(value);
  return text.length * 3 <= bytesMax || encoder.encode(text).length <= bytesMax;
}

/** Returns the JSON text with the keys of every object sorted. Equal data gives equal text, whatever the sequence of its fields. */
export function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedText(value[key] as Json)}`)
    .join(',')}}`;
}
