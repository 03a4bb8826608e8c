import { isObject, type Json } from '#core/data/json';
import { isSealed } from '#core/definition/sealed';

/** A field of the order by whose value two groups of orders differ. */
export interface SeparatingField {
  /** The field as expressions read it: `order.address.country`. */
  readonly field: string;
  /** The value that all orders with the exception have, and none of the others. */
  readonly value: string | number | boolean;
}

/** The fewest orders in each group: smaller groups may differ by accident. */
export const separatingMin = 5;
/** Levels of objects in an order that are compared. Deeper fields are left out. */
const depthMax = 4;

/**
 * Returns the fields that separate orders with an exception from orders without one. `secret`: JSON pointers to fields that are left out.
 */
export function separatingFields(failed: readonly Json[], good: readonly Json[], secret: readonly string[]): readonly SeparatingField[] {
  if (failed.length < separatingMin || good.length < separatingMin) return [];
  const [first, ...others] = failed.map((body) => leavesOf(body, secret));
  const rest = good.map((body) => leavesOf(body, secret));
  return [...(first ?? [])].flatMap(([field, value]) =>
    others.every((leaves) => leaves.get(field) === value) && rest.every((leaves) => leaves.has(field) && leaves.get(field) !== value)
      ? [{ field, value }]
      : [],
  );
}

type Leaf = string | number | boolean;

/** Returns the single values of an order by the names of their fields. Lists are left out. */
function leavesOf(body: Json, secret: readonly string[]): ReadonlyMap<string, Leaf> {
  const found = new Map<string, Leaf>();
  const visit = (value: Json, field: string, pointer: string, depth: number): void => {
    if (secret.includes(pointer) || isSealed(value)) return;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') found.set(field, value);
    if (!isObject(value) || depth >= depthMax) return;
    for (const [name, entry] of Object.entries(value))
      if (/^[A-Za-z_]\w*$/.test(name)) visit(entry as Json, `${field}.${name}`, `${pointer}/${name}`, depth + 1);
  };
  visit(body, 'order', '', 0);
  return found;
}
