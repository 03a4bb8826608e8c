import { isObject, type Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { fingerprint } from '#core/definition/fingerprint';

/** The objects of one operation, by their full names: `stock/tea`. */
export interface UsedObjects {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** The declared names of an operation: `stock/{sku}`. */
interface Declared {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/** The most characters of a full name. A longer one ends in its hash, so that equal names stay equal. */
export const nameCharactersMax = 256;

/** Whether an operation declares objects. An operation without them costs nothing more. */
export const declaresObjects = ({ reads, writes }: Declared): boolean => reads !== undefined || writes !== undefined;

/** Returns the objects that an operation has used, each once. A name is left out if one of its fields is in none of the values. */
export function usedObjects({ reads = [], writes = [] }: Declared, values: readonly (Json | undefined)[]): UsedObjects {
  const named = (names: readonly string[]) => [...new Set(names.flatMap((name) => objectName(name, values) ?? []))];
  return { reads: named(reads), writes: named(writes) };
}

/** Fills a name with fields of these values. The first value that has a field gives it; undefined if no value has one of the fields. */
export function objectName(name: string, values: readonly (Json | undefined)[]): string | undefined {
  const parts = [...name.matchAll(/\{([^}]+)\}/g)].map(([, path = '']) => fieldIn(values, path.split('.')));
  if (parts.some((part) => part === undefined)) return undefined;
  let next = 0;
  const filled = name.replaceAll(/\{[^}]+\}/g, () => String(parts[next++]));
  return filled.length <= nameCharactersMax ? filled : `${filled.slice(0, nameCharactersMax - 13)}~${fingerprint(filled)}`;
}

const fieldIn = (values: readonly (Json | undefined)[], path: readonly string[]): string | number | undefined =>
  values.map((value) => fieldOf(value, path)).find((part) => typeof part === 'string' || typeof part === 'number');

const fieldOf = (value: Json | undefined, [first, ...rest]: readonly string[]): Json | undefined =>
  first === undefined ? value : isObject(value) && Object.hasOwn(value, first) ? fieldOf(value[first] as Json, rest) : undefined;

/** Whether a step of these workflows declares what it reads or writes. */
export const hasObjects = (workflows: readonly WorkflowDefinition[] = []): boolean =>
  workflows.some(({ root }) => /"(?:reads|writes)":\[/.test(JSON.stringify(root)));
