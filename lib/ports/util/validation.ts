import * as z from 'zod';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { linearPattern } from '#core/definition/pattern';
import { holdsSealed, isSealed } from '#core/definition/sealed';

const validators = new WeakMap<JsonObject, z.ZodType>();

/**
 * Returns a validator for a JSON Schema. It runs in time linear in the data, because RE2 matches the patterns; the few formats that RE2 lacks
 * cannot backtrack. Validators are
 * cached per schema: building one takes longer than running it.
 */
export function validatorOf(schema: JsonObject): z.ZodType {
  let validator = validators.get(schema);
  if (!validator) {
    const { registry, types } = registryOfKeys();
    validator = z.fromJSONSchema(withMarkedKeys(schema) as Parameters<typeof z.fromJSONSchema>[0], { registry });
    usePatternsInLinearTime([validator, types], new Set());
    validators.set(schema, validator);
  }
  return validator;
}

type Issue = z.core.$ZodIssue;

/** Returns the issues that a type finds in a value, except those of sealed secrets: they were checked before they were sealed. */
export function issuesIn(type: z.ZodType, value: Json): readonly Issue[] {
  const issues = type.safeParse(value).error?.issues ?? [];
  return issues.length > 0 && holdsSealed(value) ? issues.filter((issue) => !isOfSealed(issue, value)) : issues;
}

/** Whether an issue concerns a sealed secret alone. A union has an issue if every alternative has one. */
function isOfSealed(issue: Issue, value: Json): boolean {
  const at = [value];
  for (const part of issue.path) at.push((at.at(-1) as { readonly [part: PropertyKey]: Json } | undefined)?.[part] ?? null);
  if (at.some(isSealed)) return true;
  const inner = at.at(-1) as Json;
  return (
    issue.code === 'invalid_union' && issue.errors.some((errors) => errors.length > 0 && errors.every((each) => isOfSealed(each, inner)))
  );
}

const linear = new WeakSet<z.ZodType>();

/** Returns the same type with RE2 behind its patterns, except those that RE2 does not support. */
export function inLinearTime(type: z.ZodType): z.ZodType {
  if (!linear.has(type)) usePatternsInLinearTime(type, new Set());
  linear.add(type);
  return type;
}

/** Replaces the patterns inside a zod type with RE2's. zod has no setting for this, but reads `pattern` of a check at each use. */
function usePatternsInLinearTime(part: unknown, seen: Set<unknown>): void {
  if (typeof part !== 'object' || part === null || seen.has(part)) return;
  seen.add(part);
  const inner: { [key: string]: unknown } = '_zod' in part ? (part._zod as { def: { [key: string]: unknown } }).def : { ...part };
  const { pattern } = inner;
  if (pattern instanceof RegExp && /^[gyud]*$/.test(pattern.flags))
    inner['pattern'] = linearPattern(pattern.source) ?? withProperties(pattern);
  if (inner['type'] === 'lazy') usePatternsInLinearTime((inner['getter'] as () => unknown)(), seen);
  for (const each of Object.values(inner)) usePatternsInLinearTime(each, seen);
}

/** JSON Schema drops the flag without which a pattern such as `\p{Emoji}` matches the letters of its name. */
const withProperties = (pattern: RegExp): RegExp => (pattern.source.includes('\\p{') ? new RegExp(pattern.source, 'u') : pattern);

const keysMark = 'redress:keys';

/**
 * Marks the schemas of property names (keys). zod hides their types in a closure, but registers each type whose schema has an unknown
 * keyword.
 */
function withMarkedKeys(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withMarkedKeys);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema as JsonObject).map(([keyword, value]) => {
      if (keyword === 'propertyNames' && isObject(value)) return [keyword, { ...value, [keysMark]: true }];
      return [
        keyword,
        values.has(keyword) ? value : named.has(keyword) && isObject(value) ? eachMarked(value as JsonObject) : withMarkedKeys(value),
      ];
    }),
  );
}

/** Keywords that hold data, and keywords that hold schemas under names that the author of the schema chooses. */
const values = new Set(['const', 'default', 'enum', 'examples']);
const named = new Set(['$defs', 'definitions', 'patternProperties', 'properties']);

const eachMarked = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withMarkedKeys(schema)]));

/** Returns a registry for zod that collects the types of marked schemas. */
function registryOfKeys() {
  const types: z.core.$ZodType[] = [];
  const registry = z.registry<z.core.JSONSchemaMeta>();
  const add = (type: z.core.$ZodType, meta: z.core.JSONSchemaMeta) => {
    if (keysMark in meta) types.push(type);
    return registry;
  };
  return { types, registry: Object.assign(registry, { add }) };
}
