import { isObject, type Json, type JsonObject } from '#core/data/json';

interface Schema {
  readonly [keyword: string]: unknown;
}

/**
 * Makes up a value for a JSON Schema; nothing checks that it fits. A string is the name of its field, a number is 1, and an enum its first
 * value, unless the schema limits them. Optional fields are left out.
 */
export const sampleOfJson = (schema: JsonObject, name: string): Json => madeOf(schema, name, schema, 0);

/** Levels of a schema, with its references. Below them each value is null, which ends the recursion of a schema that refers to itself. */
const depthMax = 16;

function madeOf(schema: Schema, name: string, root: Schema, depth: number): Json {
  if (depth > depthMax) return null;
  const inner = (part: unknown, field = name): Json => madeOf(isObject(part) ? part : {}, field, root, depth + 1);
  if (typeof schema['$ref'] === 'string') return inner(definitionAt(schema['$ref'], root));
  if ('const' in schema) return schema['const'] as Json;
  if ('default' in schema) return schema['default'] as Json;
  if (Array.isArray(schema['enum'])) return (schema['enum'][0] ?? null) as Json;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return inner(choices[0]);
  if (Array.isArray(schema['allOf'])) return Object.assign({}, ...schema['allOf'].map((part) => inner(part)));
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return textOf(schema, name);
    case 'number':
    case 'integer':
      return numberOf(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return listOf(schema, inner);
    default:
      return objectOf(schema, inner);
  }
}

const definitionAt = (reference: string, root: Schema): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), root);

const byFormat: { readonly [format: string]: string } = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00',
  email: 'somebody@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000001',
};

function textOf({ format, pattern, minLength = 0, maxLength = 1024 }: Schema, name: string): string {
  const known = typeof format === 'string' ? byFormat[format] : undefined;
  if (known !== undefined) return known;
  const text = name.padEnd(minLength as number, 'x').slice(0, maxLength as number);
  if (typeof pattern !== 'string') return text;
  const shape = new RegExp(pattern, 'u');
  const repeated = ['A', 'a', '1'].flatMap((letter) => Array.from({ length: 40 }, (_, index) => letter.repeat(index + 1)));
  return [text, ...repeated].find((candidate) => shape.test(candidate)) ?? text;
}

function numberOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Schema): number {
  const step = typeof multipleOf === 'number' ? multipleOf : 1;
  const least = Math.max(
    step,
    typeof minimum === 'number' ? Math.ceil(minimum / step) * step : step,
    typeof exclusiveMinimum === 'number' ? (Math.floor(exclusiveMinimum / step) + 1) * step : step,
  );
  if (typeof maximum === 'number' && least > maximum) return maximum;
  return typeof exclusiveMaximum === 'number' && least >= exclusiveMaximum ? exclusiveMaximum - step : least;
}

function listOf({ items, prefixItems, minItems = 0 }: Schema, inner: (part: unknown) => Json): Json {
  if (Array.isArray(prefixItems)) return prefixItems.map((part) => inner(part));
  return Array.from({ length: Math.max(1, minItems as number) }, () => inner(items));
}

function objectOf({ properties, required }: Schema, inner: (part: unknown, field: string) => Json): Json {
  const wanted = Array.isArray(required) ? required : [];
  const fields = Object.entries(isObject(properties) ? properties : {}).filter(([field]) => wanted.includes(field));
  return Object.fromEntries(fields.map(([field, part]) => [field, inner(part, field)]));
}
