import { definitionPath } from '#core/data/ids';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { isCel } from '#core/definition/program';
import type { SolutionInstruction, SolutionParameter } from './solution.ts';

/** The parts of a solution that come from an instruction. */
export interface GeneralInstruction {
  readonly instruction: SolutionInstruction;
  readonly parameters: readonly SolutionParameter[];
}

/** The fields of instructions that hold values of one order. */
const valueFields: ReadonlySet<string> = new Set(['answer', 'input', 'output', 'variables', 'order', 'endBy']);

/** Instructions that find the blocked step without a path. */
const findsItsStep: ReadonlySet<string> = new Set(['skip', 'replace-input', 'mark-compensated', 'retry-undo']);

/**
 * Turns an instruction to one order into an instruction to other orders. A parameter replaces each value of that order, so that no other
 * order gets the value. `blockedAt`: the path of the step at which the order was blocked.
 */
export function generalized({ kind, ...fields }: SolutionInstruction, blockedAt: string | undefined): GeneralInstruction {
  const parameters = new Map<string, SolutionParameter>();
  const parameterFor = (wanted: string, value: Json): string => {
    const name = unused(nameOf(wanted), parameters);
    parameters.set(name, { name, schema: schemaOf(value) });
    return `{{${name}}}`;
  };
  const general = Object.entries(fields).flatMap(([field, value]): readonly (readonly [string, Json])[] => {
    if (field === 'path' && value === blockedAt && findsItsStep.has(kind)) return [];
    if (field === 'path' && isOfTurn(value)) return [[field, parameterFor(field, value)]];
    if (field === 'retry' && isObject(value) && isOfTurn(value['path'] as Json))
      return [[field, { ...(value as JsonObject), path: parameterFor('path', value['path'] as Json) }]];
    return [[field, valueFields.has(field) ? generalValue(field, value, parameterFor) : value]];
  });
  return { instruction: { kind, ...Object.fromEntries(general) }, parameters: [...parameters.values()] };
}

/** Whether a path names one turn of a loop. Another order has other turns. */
const isOfTurn = (path: Json): boolean => typeof path === 'string' && definitionPath(path) !== path;

/** Replaces a value: each field of an object by a parameter of its name, anything else by one parameter. An expression stays. */
function generalValue(field: string, value: Json, parameterFor: (name: string, value: Json) => string): Json {
  if (isCel(value)) return value;
  if (!isObject(value)) return parameterFor(field, value);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, isCel(entry) ? (entry as Json) : parameterFor(key, entry as Json)]),
  );
}

function nameOf(wanted: string): string {
  const letters = wanted.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, 60);
  return /^[A-Za-z]/.test(letters) ? letters : `p_${letters}`.slice(0, 60);
}

function unused(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
}

/** Returns the schema of a value's type. The check of the instruction compares the value with the schema of its operation. */
function schemaOf(value: Json): JsonObject {
  if (value === null) return {};
  return { type: Array.isArray(value) ? 'array' : typeof value };
}
