import * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { linearPattern } from '#core/definition/pattern';

const validators = new WeakMap<JsonObject, z.ZodType>();

/**
 * Returns a validator for a JSON Schema. It runs in time linear in the data, because RE2 matches the patterns. Validators are
 * cached per schema: building one takes longer than running it.
 */
export function validatorOf(schema: JsonObject): z.ZodType {
  let validator = validators.get(schema);
  if (!validator) {
    validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    usePatternsInLinearTime(validator, new Set());
    validators.set(schema, validator);
  }
  return validator;
}

/** Replaces the patterns inside a zod type with RE2's. zod has no setting for this, but reads `pattern` of a check at each use. */
function usePatternsInLinearTime(part: unknown, seen: Set<unknown>): void {
  if (typeof part !== 'object' || part === null || seen.has(part)) return;
  seen.add(part);
  const inner: { [key: string]: unknown } = '_zod' in part ? (part._zod as { def: { [key: string]: unknown } }).def : { ...part };
  if (inner['pattern'] instanceof RegExp) inner['pattern'] = linearPattern(inner['pattern'].source) ?? inner['pattern'];
  if (inner['type'] === 'lazy') usePatternsInLinearTime((inner['getter'] as () => unknown)(), seen);
  for (const each of Object.values(inner)) usePatternsInLinearTime(each, seen);
}
