import type { Json } from '#core/data/json';
import { UnreadableRecordError } from '#ports/errors';

/**
 * Parses JSON; returns undefined for any other text. `JSON.parse` refuses a byte order mark, and deep nesting does not overflow its stack.
 */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Parses a stored part of an order's record; throws UnreadableRecordError, which concerns this order alone. */
export function recordIn<T>(orderId: string, text: string): T {
  const record = jsonIn(text);
  if (record === undefined) throw new UnreadableRecordError(orderId, 'it is damaged');
  return record as T;
}
