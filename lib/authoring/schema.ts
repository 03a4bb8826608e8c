import * as z from 'zod';
import { isObject, type JsonObject } from '#core/data/json';
import { linearPattern } from '#core/definition/pattern';
import { secretPointers } from '#core/definition/secrets';
import { DefinitionError } from './definition-error.ts';

/** Checks that a value is a schema of zod 4. @throws DefinitionError that says what it is instead. */
export function checkSchema(schema: unknown, where: string): void {
  if (isObject(schema) && '_zod' in schema) return;
  if (isObject(schema) && '_def' in schema)
    throw new DefinitionError(`${where}: expected a schema of zod 4, got one of zod 3. Run npm install zod@4.`);
  throw new DefinitionError(
    `${where}: expected a zod schema such as z.object({ … }), got ${isObject(schema) ? 'an object' : String(schema)}.`,
  );
}

/** Returns what is wrong with a value, by the paths of its fields: `amount: Invalid input: expected number`. */
export const issuesOf = ({ issues }: Pick<z.ZodError, 'issues'>): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ');

/**
 * Returns the JSON Schema for data from clients and operators.
 *
 * @throws DefinitionError for a value that is not a schema of JSON, and for a pattern that can backtrack without bound, or that JSON
 * Schema reads differently.
 */
export const checkedSchemaOf = (schema: z.ZodType, where: string, params: z.core.ToJSONSchemaParams = {}): JsonObject => {
  checkSchema(schema, where);
  const { $schema: _, ...plain } = jsonSchemaOf(schema, where, {
    ...params,
    override: (part) => {
      const { zodSchema, jsonSchema, path } = part;
      keepSecretsOfPipes(part);
      // zod writes several patterns as parts without a type, and reads a part without a type as "anything".
      for (const each of jsonSchema.type === 'string' ? (jsonSchema.allOf ?? []) : []) if (typeof each === 'object') each.type = 'string';
      const place = `${where}${pointerOf(path)}`;
      for (const pattern of [...patternsOf(zodSchema), ...writtenPatternsOf(jsonSchema)]) checkPattern(pattern, place);
    },
  });
  return plain;
};

export type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/**
 * Keeps the secrets of a pipe. Its JSON Schema shows one of its two schemas. If the other one marks a secret that this one does not mark,
 * the value is secret as a whole: nobody knows where the conversion puts the secret.
 */
export const keepSecretsOfPipes: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod;
  if (def.type !== 'pipe') return;
  const shown = secretPointers({ ...jsonSchema } as JsonObject);
  const marked = [def.in, def.out].flatMap((side) =>
    secretPointers(z.toJSONSchema(side, { unrepresentable: 'any', override: keepSecretsOfPipes }) as JsonObject),
  );
  if (marked.some((pointer) => !shown.includes(pointer) && !shown.includes(''))) jsonSchema['secret'] = true;
};

/** Returns the JSON Schema of what a schema returns, with its secrets. It describes types that JSON lacks as anything. */
export const outputSchemaOf = (schema: z.ZodType): JsonObject =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'output', override: keepSecretsOfPipes }) as JsonObject;

function jsonSchemaOf(schema: z.ZodType, where: string, params: z.core.ToJSONSchemaParams): JsonObject {
  try {
    return z.toJSONSchema(schema, params) as JsonObject;
  } catch (error) {
    if (error instanceof DefinitionError) throw error;
    const { message } = error as Error;
    throw new DefinitionError(
      `${where}${fieldWith(message, schema)}: ${message}. Declare the JSON value that the client sends: for a date, z.iso.datetime() instead of z.date().`,
    );
  }
}

const pointerOf = (path: readonly (string | number)[]): string => path.map((part) => `/${part}`).join('');

/** Returns the path of the first field whose type a message of zod begins with: `Date cannot be represented in JSON Schema`. */
function fieldWith(message: string, schema: z.ZodType): string {
  const fields: string[] = [];
  z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      if (message.toLowerCase().startsWith(zodSchema._zod.def.type)) fields.push(pointerOf(path));
    },
  });
  return fields[0] ?? '';
}

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

/**
 * The formats of zod that RE2 does not support. Their lookahead stands once, at the start of a text or of a part, so they do not
 * backtrack.
 */
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
