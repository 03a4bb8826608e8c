import type { JsonObject } from '#core/data/json';
import { computedWithinText, filledPlaces, isComputed, placesIn } from '#core/solutions/places';
import type { Solution, SolutionInstruction, SolutionValues } from '#core/solutions/solution';
import { validatorOf } from '#ports/util/validation';
import { bodyProblems, pointerOf, type SubmissionProblem } from '#roles/submission/submission';

type Filled =
  | { readonly ok: true; readonly instruction: SolutionInstruction }
  | { readonly ok: false; readonly problems: readonly SubmissionProblem[] };

/**
 * Returns the instruction of a solution with its places filled in. Each parameter needs a value that fits its schema, so that no order gets
 * a value that was meant for another order. `pointer`: the place of the values in the API call.
 */
export function filledSolution({ id, instruction, parameters }: Solution, values: SolutionValues, pointer = '/parameters'): Filled {
  const names = new Set(parameters.map(({ name }) => name));
  const unknown = Object.keys(values).filter((name) => !names.has(name));
  const problems = [
    ...computedWithinText(instruction, values).map((name) => ({ pointer: `${pointer}/${name}`, ...withinText })),
    ...unknown.map((name) => ({
      pointer: `${pointer}${pointerOf([name])}`,
      code: 'unknown-parameter',
      detail:
        names.size === 0 ? `The solution ${id} has no parameters.` : `The solution ${id} has the parameters ${[...names].join(', ')}.`,
    })),
    ...parameters.flatMap(({ name, schema }): readonly SubmissionProblem[] => {
      const at = `${pointer}/${name}`;
      if (!Object.hasOwn(values, name))
        return [{ pointer: at, code: 'required', detail: `The solution ${id} needs a value for "${name}".` }];
      const value = values[name] ?? null;
      // A computed value is checked later, against the schema of the operation.
      return isComputed(value) ? [] : bodyProblems(validatorOf(schema), value, at);
    }),
  ];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, instruction: filledPlaces(instruction, values) };
}

const withinText = {
  code: 'not-computed',
  detail: 'The place of this parameter is within a text, which takes no expression. Write the expression into the instruction.',
};

/**
 * Returns the pointer to the parameter whose value is at `pointer` in the filled instruction; `pointer` itself if no parameter gave that
 * value.
 */
export function parameterPointer(instruction: SolutionInstruction, pointer: string): string {
  const place = [...placesIn(instruction)].find(({ path }) => `${pointer}/`.startsWith(`${pointerOf(path)}/`));
  return place ? `/parameters/${place.name}${pointer.slice(pointerOf(place.path).length)}` : pointer;
}

/** Returns why a JSON Schema cannot be used; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
  try {
    validatorOf(schema).safeParse('');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
