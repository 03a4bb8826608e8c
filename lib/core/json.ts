/** What survives `JSON.parse(JSON.stringify(x))` unchanged: all that a definition, a state or a message may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** UTF-8 bytes of a value as JSON. */
export const utf8Bytes = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length;
