/** What survives `JSON.parse(JSON.stringify(x))` unchanged: all that a definition, a state or a message may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();

/** UTF-8 bytes of a value as JSON. */
export const utf8Bytes = (value: Json): number => encoder.encode(JSON.stringify(value)).length;

/** Whether a value as JSON has so many UTF-8 bytes at the most. Most are so short that nobody need count: a UTF-16 unit makes three. */
export function fits(value: Json, bytesMax: number): boolean {
  const text = JSON.stringify(value);
  return text.length * 3 <= bytesMax || encoder.encode(text).length <= bytesMax;
}

/** JSON with the keys of every object sorted: the same text for the same data, in whatever order its fields came. */
export function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedText(value[key] as Json)}`)
    .join(',')}}`;
}
