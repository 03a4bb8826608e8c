import * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { linearPattern } from '#core/definition/pattern';
import { DefinitionError } from './definition-error.ts';

/**
 * A schema of what clients and people send, as JSON Schema.
 *
 * @throws DefinitionError for a pattern that could keep the process busy, or that means something else in JSON Schema.
 */
export const checkedSchemaOf = (schema: z.ZodType, where: string, params: z.core.ToJSONSchemaParams = {}): JsonObject => {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, {
    ...params,
    override: ({ zodSchema, jsonSchema, path }) => {
      // zod writes several patterns as parts that name no type, and reads a part without a type as "anything".
      for (const part of jsonSchema.type === 'string' ? (jsonSchema.allOf ?? []) : []) if (typeof part === 'object') part.type = 'string';
      for (const pattern of patternsOf(zodSchema)) checkPattern(pattern, `${where}${path.map((part) => `/${part}`).join('')}`);
    },
  }) as JsonObject;
  return plain;
};

/** The patterns that its author wrote; those of zod's own formats (`z.email()`, `z.iso.date()`) do not backtrack. */
function patternsOf({ _zod: { def } }: z.core.$ZodTypes): readonly RegExp[] {
  return (def.checks ?? []).flatMap(({ _zod: { def: check } }) =>
    'format' in check && check.format === 'regex' && 'pattern' in check && check.pattern instanceof RegExp ? [check.pattern] : [],
  );
}

function checkPattern(pattern: RegExp, where: string): void {
  const flags = pattern.flags.replace(/[gyuvd]/g, '');
  if (flags !== '')
    throw new DefinitionError(
      `${where}: the pattern ${pattern} has the flag "${flags}", which a JSON Schema cannot hold. Write the pattern without it: [A-Za-z] instead of /[a-z]/i.`,
    );
  if (linearPattern(pattern.source)) return;
  throw new DefinitionError(
    `${where}: RE2 does not take the pattern ${pattern}: a pattern for what clients send may not look ahead or behind, nor refer back to a group, because a short text could then keep the process busy for seconds. Write it without, or check that part in an operation.`,
  );
}
