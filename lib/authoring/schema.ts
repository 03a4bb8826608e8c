import * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { linearPattern } from '#core/definition/pattern';
import { DefinitionError } from './definition-error.ts';

/**
 * Returns the JSON Schema for data from clients and operators.
 *
 * @throws DefinitionError for a pattern that can backtrack without bound, or that JSON Schema reads differently.
 */
export const checkedSchemaOf = (schema: z.ZodType, where: string, params: z.core.ToJSONSchemaParams = {}): JsonObject => {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, {
    ...params,
    override: ({ zodSchema, jsonSchema, path }) => {
      // zod writes several patterns as parts without a type, and reads a part without a type as "anything".
      for (const part of jsonSchema.type === 'string' ? (jsonSchema.allOf ?? []) : []) if (typeof part === 'object') part.type = 'string';
      for (const pattern of patternsOf(zodSchema)) checkPattern(pattern, `${where}${path.map((part) => `/${part}`).join('')}`);
    },
  }) as JsonObject;
  return plain;
};

/** Returns the patterns of the author. The formats of zod (`z.email()`, `z.iso.date()`) do not backtrack. */
function patternsOf({ _zod: { def } }: z.core.$ZodTypes): readonly RegExp[] {
  return (def.checks ?? []).flatMap(({ _zod: { def: check } }) =>
    'format' in check && check.format === 'regex' && 'pattern' in check && check.pattern instanceof RegExp ? [check.pattern] : [],
  );
}

function checkPattern(pattern: RegExp, where: string): void {
  const flags = pattern.flags.replace(/[gyuvd]/g, '');
  if (flags !== '')
    throw new DefinitionError(
      `${where}: pattern ${pattern} has the flag "${flags}", which JSON Schema does not support. Write it without the flag: [A-Za-z] instead of /[a-z]/i.`,
    );
  if (linearPattern(pattern.source)) return;
  throw new DefinitionError(
    `${where}: RE2 does not support the pattern ${pattern}. Remove lookahead, lookbehind and backreferences, which let a short text block the process for seconds, or check that part in an operation.`,
  );
}
