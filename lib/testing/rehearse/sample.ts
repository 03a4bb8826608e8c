import * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import { sampleOfJson } from '#core/definition/sample';

/**
 * Makes up a value for a schema: a string is the name of its field, a number is 1, an enum its first value. Returns a `problem` if the
 * value violates the schema.
 */
export function sampleOf(schema: z.ZodType, name: string): { readonly value: Json; readonly problem?: string } {
  const value = sampleOfJson(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonObject, name);
  const parsed = z.safeParse(schema, value);
  return parsed.success ? { value } : { value, problem: z.prettifyError(parsed.error).replaceAll(/\s*\n\s*/g, ' ') };
}
