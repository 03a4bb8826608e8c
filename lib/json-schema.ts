import * as z from 'zod';
import type { JsonObject } from './core/json.ts';

const validators = new WeakMap<JsonObject, z.ZodType>();

/** What tells whether data are what a JSON Schema says; made once for a schema, which takes longer than to ask it. */
export function validatorOf(schema: JsonObject): z.ZodType {
  let validator = validators.get(schema);
  if (!validator) validators.set(schema, (validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])));
  return validator;
}
