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
      const place = `${where}${path.map((part) => `/${part}`).join('')}`;
      for (const pattern of [...patternsOf(zodSchema), ...writtenPatternsOf(jsonSchema)]) checkPattern(pattern, place);
    },
  }) as JsonObject;
  return plain;
};

/** Returns the patterns of a type and of its checks, with their flags. */
function patternsOf({ _zod: { def } }: z.core.$ZodTypes): readonly RegExp[] {
  return [def, ...(def.checks ?? []).map(({ _zod }) => _zod.def)].flatMap((each) =>
    'pattern' in each && each.pattern instanceof RegExp ? [each.pattern] : [],
  );
}

/** Returns the patterns of a part of a JSON Schema. Some of them are not in the type: zod composes those of a template. */
function writtenPatternsOf({ pattern, patternProperties = {} }: z.core.JSONSchema.BaseSchema): readonly Pattern[] {
  return [...(pattern === undefined ? [] : [pattern]), ...Object.keys(patternProperties)].map((source) => ({ source, flags: '' }));
}

type Pattern = Pick<RegExp, 'source' | 'flags'>;

const { domain, duration, emoji, extendedDuration, hostname, iban } = z.regexes;

/** The formats of zod that RE2 does not support. Their lookahead stands once, at the start of a text or of a part, so they do not backtrack. */
const safeFormats = new Set([domain, duration, emoji(), extendedDuration, hostname, iban].map(({ source }) => source));

function checkPattern({ source, flags: given }: Pattern, where: string): void {
  if (safeFormats.has(source)) return;
  const pattern = `/${source}/${given}`;
  const flags = given.replace(/[gyud]/g, '');
  if (flags !== '')
    throw new DefinitionError(
      `${where}: pattern ${pattern} has the flag "${flags}", which JSON Schema does not support. Write it without the flag: [A-Za-z] instead of /[a-z]/i.`,
    );
  if (linearPattern(source)) return;
  throw new DefinitionError(
    `${where}: RE2 does not support the pattern ${pattern}. Remove lookahead, lookbehind and backreferences, which let a short text block the process for seconds, or check that part in an operation.`,
  );
}
