import * as z from 'zod';
import type { JsonObject } from '../core/json.ts';

/** A schema as JSON Schema, for definitions: plain data. */
export const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): JsonObject => {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonObject;
  return plain;
};
