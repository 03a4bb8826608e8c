/** A schema of the served OpenAPI document: the part that the generator of bad requests reads. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

/** One call of the contract. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The roles that may call; empty if a call needs no token. */
  readonly roles: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** The codes of problems that the document publishes for the call. */
  readonly codes: ReadonlySet<string>;
}

interface DocumentOperation {
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: { readonly [status: string]: { readonly description: string } };
}

export interface OpenApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: DocumentOperation } };
}

/** Lists the calls of the served document. */
export const operationsOf = ({ paths }: OpenApiDocument): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description = '', security, parameters = [], requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      roles: security ? [] : (/^For: (.*)\.$/.exec(description)?.[1]?.split(', ') ?? []),
      parameters,
      body: requestBody && withFirstChoice(requestBody.content['application/json'].schema),
      codes: new Set(
        Object.values(responses).flatMap((each) => [...each.description.matchAll(/`([a-z-]+)`: /g)].map(([, code = '']) => code)),
      ),
    })),
  );

/** Turns a choice between fields into the first choice, so that a sample has that field and not the others. */
function withFirstChoice(schema: Schema): Schema {
  const [first] = schema.properties ? (schema.anyOf ?? []) : [];
  if (!first) return schema;
  const { anyOf: _, ...object } = schema;
  return { ...object, required: [...(object.required ?? []), ...(first.required ?? [])] };
}

const texts = ['a', 'A', '1', 'EUR', 'DE', '"1"', 'acme', 'redress-response-acme', 'AIDAEXAMPLE', '2026-01-01T00:00:00Z'];

/** Returns a value that fits the schema: the required fields, and nothing else. */
export function sampleOf(schema: Schema): unknown {
  const { type, anyOf, oneOf, properties = {}, required = [] } = schema;
  const choices = anyOf ?? oneOf;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (choices?.[0]) return sampleOf(choices[0]);
  switch (type) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, Math.min(schema.maximum ?? 1, 1));
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'string': {
      const text = texts.find((each) => fitsText(each, schema));
      if (text === undefined) throw new Error(`No sample fits the pattern ${schema.pattern}. Add one to "texts" in dev/verify/bad-input.`);
      return text;
    }
    default:
      return {};
  }
}

/** Whether a text fits the length and the pattern of a schema. */
export const fitsText = (text: string, { pattern, minLength = 0, maxLength = Infinity }: Schema): boolean =>
  [...text].length >= minLength && [...text].length <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));

/** A value within a body, and its schema. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
}

/** Lists the places of a value and its optional fields, with the schemas that they must fit. */
export function placesOf(schema: Schema, value: unknown, path: readonly (string | number)[] = []): readonly Place[] {
  const choice = (schema.anyOf ?? schema.oneOf)?.length === 1 ? (schema.anyOf ?? schema.oneOf)?.[0] : undefined;
  if (choice) return placesOf(choice, value, path);
  const inside = Array.isArray(value)
    ? value.flatMap((entry, index) => placesOf(schema.items ?? {}, entry, [...path, index]))
    : Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
        placesOf(field, (value as { readonly [name: string]: unknown } | undefined)?.[name], [...path, name]),
      );
  return [{ path, schema }, ...inside];
}

/** Returns the JSON types that a schema accepts; undefined if it accepts any. */
export function typesOf(schema: Schema): ReadonlySet<string> | undefined {
  const { type, anyOf, oneOf } = schema;
  const choices = anyOf ?? oneOf;
  if (choices) {
    const all = choices.map(typesOf);
    return all.some((each) => each === undefined) ? undefined : new Set(all.flatMap((each) => [...(each ?? [])]));
  }
  if (schema.const !== undefined) return new Set([jsonTypeOf(schema.const)]);
  if (schema.enum) return new Set(schema.enum.map(jsonTypeOf));
  return type === undefined ? undefined : new Set([type]);
}

/** Returns the type of a value in the words of JSON Schema; a whole number is an `integer`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
