import type { JsonObject } from '#core/data/json';
import type { Solution } from '../../api/types.ts';
import { parsed } from '../../parts/json-text.ts';

/** A solution as a person types it. The instruction and the parameters stand as JSON. */
export type SolutionForm = {
  readonly id: string;
  readonly name: string;
  readonly appliesWhen: string;
  /** The fingerprints, with commas between them. */
  readonly fingerprints: string;
  readonly instruction: string;
  readonly parameters: string;
  readonly reason: string;
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

export const formOf = (solution: Solution | undefined): SolutionForm => ({
  id: solution?.id ?? '',
  name: solution?.name ?? '',
  appliesWhen: solution?.appliesWhen ?? '',
  fingerprints: solution?.fingerprints.join(', ') ?? '',
  instruction: pretty(solution?.instruction ?? { kind: 'resubmit' }),
  parameters: pretty(solution?.parameters ?? []),
  reason: '',
});

export type BuiltSolution = { readonly body: JsonObject } | { readonly missing: string };

/** Returns the body of the call that writes the solution, without its reason. */
export function builtSolution({ id, name, appliesWhen, fingerprints, instruction, parameters }: SolutionForm): BuiltSolution {
  if (id === '') return { missing: 'Give the solution an id.' };
  const given = parsed(instruction);
  if (!given.ok) return { missing: `The instruction: ${given.problem}` };
  const places = parsed(parameters.trim() === '' ? '[]' : parameters);
  if (!places.ok) return { missing: `The parameters: ${places.problem}` };
  return {
    body: {
      ...(name.trim() === '' ? {} : { name }),
      ...(appliesWhen.trim() === '' ? {} : { appliesWhen }),
      fingerprints: fingerprints
        .split(',')
        .map((text) => text.trim())
        .filter((text) => text !== ''),
      instruction: given.value,
      parameters: places.value,
    },
  };
}
