import type { Json, JsonObject } from '#core/data/json';

/** A value that differs from order to order. The person who uses the solution gives it. */
export interface SolutionParameter {
  readonly name: string;
  /** The JSON Schema of the value. */
  readonly schema: JsonObject;
}

/** An instruction with places for values: `{{name}}` in a text stands for the parameter of that name. */
export type SolutionInstruction = JsonObject & { readonly kind: string };

/** An instruction that people keep for the next time (F-155). */
export interface Solution {
  readonly id: string;
  readonly name: string;
  /** The condition, in CEL over `exception` and `order`: the solution is suggested where it is true. */
  readonly appliesWhen?: string;
  /** Fingerprints of exceptions. Without a condition, the solution is suggested for these. */
  readonly fingerprints: readonly string[];
  /** The instruction, without its author and its reason. Values may be expressions over the order: `{"$cel": "…"}`. */
  readonly instruction: SolutionInstruction;
  readonly parameters: readonly SolutionParameter[];
  /** Rises by one with every change, also after a deletion. */
  readonly version: number;
  /** The version that brought this instruction. Figures of earlier versions are about another instruction. */
  readonly instructionSince: number;
  /** The person's `sub`. */
  readonly createdBy: string;
}

/** The version of a solution that somebody has used. */
export interface UsedSolution {
  readonly id: string;
  readonly version: number;
}

/** The values of the parameters, by name. */
export type SolutionValues = { readonly [parameter: string]: Json };

export const solutionLimits = {
  solutionsMax: 200,
  /** UTF-8 bytes of a solution as JSON. */
  solutionBytesMax: 8 * 1024,
  nameCharactersMax: 128,
  conditionCharactersMax: 1024,
  fingerprintsMax: 20,
  parametersMax: 20,
  /** Suggestions of a task. */
  suggestionsMax: 5,
} as const;

export const solutionIdPattern = /^[a-z0-9-]{1,64}$/;
export const parameterNamePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
