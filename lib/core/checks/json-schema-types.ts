import { isObject } from '#core/data/json';
import { bool, double, type FieldType, nothing, type ObjectType, type Type, text, typeOfLiteral, unionOf, unknown } from './types.ts';

/** A schema, or a part of one, with the root for its references. */
interface Part {
  readonly schema: { readonly [keyword: string]: unknown };
  readonly root: unknown;
}

/** Keywords that a type cannot express. A schema with one of them has the type `unknown`. */
const beyond = ['allOf', 'if', 'not', '$dynamicRef', 'dependentSchemas', 'patternProperties'];

const types = new WeakMap<object, Type>();

/** Returns the type of the values that a JSON Schema accepts; `unknown` if a type cannot express it. Cached for each schema. */
export const typeOfSchema = (schema: unknown): Type => typeOfPart(schema, schema);

function typeOfPart(schema: unknown, root: unknown): Type {
  if (!isObject(schema)) return unknown;
  const known = types.get(schema);
  if (known) return known;
  // Ends the recursion of a schema that refers only to itself.
  types.set(schema, unknown);
  const type = typed({ schema, root });
  types.set(schema, type);
  return type;
}

function typed({ schema, root }: Part): Type {
  if (beyond.some((keyword) => keyword in schema)) return unknown;
  if (typeof schema['$ref'] === 'string') return typeOfPart(resolved(schema['$ref'], root), root);
  if ('const' in schema) return typeOfLiteral(schema['const']);
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map(typeOfLiteral));
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (choices !== undefined)
    return Array.isArray(choices) && !('properties' in schema) ? unionOf(choices.map((choice) => typeOfPart(choice, root))) : unknown;

  const { type } = schema;
  if (Array.isArray(type)) return unionOf(type.map((each) => typeNamed(each, { schema, root })));
  return typeNamed(type ?? ('properties' in schema ? 'object' : undefined), { schema, root });
}

function typeNamed(name: unknown, part: Part): Type {
  switch (name) {
    case 'string':
      return text;
    case 'number':
    case 'integer':
      return double;
    case 'boolean':
      return bool;
    case 'null':
      return nothing;
    case 'array':
      return listOf(part);
    case 'object':
      return objectOf(part);
    default:
      return unknown;
  }
}

const listOf = ({ schema, root }: Part): Type => ({
  kind: 'list',
  get item() {
    return 'prefixItems' in schema ? unknown : typeOfPart(schema['items'], root);
  },
});

function objectOf({ schema, root }: Part): ObjectType {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = new Map<string, FieldType>();
  for (const [name, field] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {}))
    fields.set(name, {
      required: required.includes(name),
      get type() {
        return typeOfPart(field, root);
      },
    });
  const { additionalProperties } = schema;
  return {
    kind: 'object',
    fields,
    get others() {
      if (additionalProperties === false) return 'none';
      // An object without any named field is open, so its fields give no warning.
      return additionalProperties === undefined && fields.size > 0 ? 'unsaid' : typeOfPart(additionalProperties, root);
    },
  };
}

/** Resolves a reference such as `#/$defs/Address`. */
function resolved(reference: string, root: unknown): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((at, name) => {
    const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
