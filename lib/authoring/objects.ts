import { isObject, type JsonObject } from '#core/data/json';
import { secretPointers } from '#core/definition/secrets';

const objectsMax = 16;
const form = /^[a-z0-9-]+(\/(\{[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\}|[a-z0-9-]+))+$/;

/** The objects that an operation reads or writes, by names with fields of its input or output: `stock/{sku}`. */
export interface Objects {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

interface Shapes {
  readonly input: JsonObject;
  readonly output: JsonObject;
}

/** Checks the object names of an operation; throws a TypeError that names the operation, the name and the remedy. */
export function checkObjects(operation: string, { reads = [], writes = [] }: Objects, shapes: Shapes): void {
  for (const [field, names] of Object.entries({ reads, writes })) {
    if (!Array.isArray(names))
      throw new TypeError(`${operation} has ${field} of the wrong form. Expected a list, for example ["stock/{sku}"].`);
    for (const name of names) checkName(`${operation} ${field}`, name, shapes);
  }
  const count = reads.length + writes.length;
  if (count > objectsMax)
    throw new TypeError(`${operation} names ${count} objects; the maximum of reads and writes together is ${objectsMax}. Leave some out.`);
}

function checkName(place: string, name: unknown, { input, output }: Shapes): void {
  if (typeof name !== 'string' || name.length > 256 || !form.test(name))
    throw new TypeError(
      `Invalid object ${JSON.stringify(name)} in ${place}. Expected a kind and at least one part, for example "stock/{sku}", in at most 256 characters.`,
    );
  for (const [, path = ''] of name.matchAll(/\{([^}]+)\}/g)) {
    const fields = path.split('.');
    if (![input, output].some((schema) => hasField(schema, fields)))
      throw new TypeError(
        `The object "${name}" in ${place} names "${path}", which is no field of the input or the output. Correct the name.`,
      );
    if ([input, output].some((schema) => isSecret(schema, fields)))
      throw new TypeError(`The object "${name}" in ${place} names "${path}", which is secret. Name objects by fields that are not secret.`);
  }
}

function hasField(schema: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) && Object.hasOwn(properties, first) && hasField(properties[first], rest);
}

/** Whether a field is a secret, lies in one, or holds one. */
const isSecret = (schema: JsonObject, fields: readonly string[]): boolean => {
  const path = `/${fields.join('/')}`;
  return secretPointers(schema).some((pointer) => `${path}/`.startsWith(`${pointer}/`) || pointer.startsWith(`${path}/`));
};

/** Returns the declared objects, as fields of a step. */
export const objectsOf = ({ reads = [], writes = [] }: Objects): Objects => ({
  ...(reads.length > 0 ? { reads } : {}),
  ...(writes.length > 0 ? { writes } : {}),
});
