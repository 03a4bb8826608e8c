import * as z from 'zod';
import { parameterNamePattern, solutionLimits } from '#core/solutions/solution';
import { anyJson, reason, timeOrNull } from './common.ts';
import { RuleBody } from './rules.ts';

const nameText = `expected 1 to ${solutionLimits.nameCharactersMax} characters, not only spaces`;
export const SolutionName = z.string().min(1, nameText).max(solutionLimits.nameCharactersMax, nameText).regex(/\S/, nameText);
export const AppliesWhen = z
  .string()
  .min(1)
  .max(solutionLimits.conditionCharactersMax)
  .describe('CEL over exception and order: the solution is suggested where it is true');
/** A call takes an instruction, or a solution with its values. The metadata tells the OpenAPI document about the choice. */
export const withInstructionOrSolution = <T extends z.ZodType<Chosen>>(body: T) =>
  body
    .refine(({ instruction, solutionId }) => (instruction === undefined) !== (solutionId === undefined), {
      error: 'expected exactly one of instruction, solutionId',
    })
    .refine(({ parameters, solutionId }) => parameters === undefined || solutionId !== undefined, {
      path: ['parameters'],
      error: 'parameters go with a solutionId',
    })
    .meta({ anyOf: [{ required: ['instruction'] }, { required: ['solutionId'] }] });

interface Chosen {
  readonly instruction?: unknown;
  readonly solutionId?: string;
  readonly parameters?: { readonly [name: string]: unknown };
}

export const Values = z.record(z.string().min(1).max(64), anyJson);

const fields = {
  appliesWhen: AppliesWhen.exactOptional(),
  fingerprints: z
    .array(z.string().min(1).max(1024))
    .max(solutionLimits.fingerprintsMax)
    .describe('without a condition, the solution is suggested for exceptions with these fingerprints'),
  instruction: z
    .looseObject({ kind: z.string() })
    .describe('as for one order; {{name}} in a text stands for a parameter, and a value may be {"$cel": "…"} over the order'),
  parameters: z
    .array(
      z.strictObject({
        name: z.string().regex(parameterNamePattern, 'expected a letter, then at most 63 letters, digits and "_"'),
        schema: z.record(z.string(), anyJson).describe('the JSON Schema of the value'),
      }),
    )
    .max(solutionLimits.parametersMax),
};

export const SolutionBody = z.strictObject({
  name: SolutionName.exactOptional().describe('default: the id'),
  ...fields,
  fingerprints: fields.fingerprints.default([]),
  parameters: fields.parameters.default([]),
  reason,
});

export const SolutionHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"[1-9]\d{0,14}"$/, 'expected the ETag of the solution in quotes, such as "7"')
    .exactOptional()
    .describe('required for a change: the ETag of the solution, which is its version in quotes'),
});

export const SolutionDeletion = z.strictObject({ reason: z.string().min(1).max(1024).regex(/\S/, 'expected a reason') });

const count = z.int().min(0);

export const Solution = z.strictObject({
  id: z.string(),
  name: z.string(),
  ...fields,
  version: z.int().min(1),
  createdBy: z.string(),
  stats: z
    .strictObject({
      used: count.describe('resolutions with this solution that get a verdict'),
      passed: count,
      failedAgain: count,
      failedOtherwise: count,
      lastUsedAt: timeOrNull,
    })
    .describe('since its present instruction'),
});

export const SolutionDeleted = z.strictObject({ id: z.string(), deletedAt: z.iso.datetime() });

export const Suggestion = z.strictObject({
  solutionId: z.string(),
  name: z.string(),
  used: count,
  passed: count,
  failedAgain: count,
  why: z.enum(['same-fingerprint', 'condition']),
  instruction: z.looseObject({ kind: z.string() }),
  parameters: fields.parameters,
  feasible: z.boolean().describe('a solution with parameters is checked with sample values; a refusal of these values does not count'),
});

export const RuleOfSolutionBody = z.strictObject({
  parameters: Values.default({}).describe('the values for the places, by name; each may be {"$cel": "…"} over the order'),
});

export const RuleOfSolution = z.strictObject({
  rule: RuleBody.omit({ reason: true, origin: true })
    .extend({ id: z.string() })
    .describe('as for PUT /rules/{id} and POST /rules/back-test'),
});
