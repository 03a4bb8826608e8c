import type * as z from 'zod';
import type { SolutionValues, UsedSolution } from '#core/solutions/solution';
import { literalValueProblems, valueProblems } from '#roles/bulk/fill';
import type { BulkInstruction } from '#roles/bulk/run';
import { filledSolution, parameterPointer } from '#roles/solutions/use';
import { bodyProblems } from '#roles/submission/submission';
import { type ProblemError, type Refusal, refuse } from './problem.ts';
import type { Call } from './route.ts';
import type { BulkBody } from './schemas/bulk.ts';
import { InstructionAlone } from './schemas/instructions.ts';
import { noSuchSolution } from './solutions.ts';

type Creation = Pick<Call<unknown, unknown, z.output<typeof BulkBody>>, 'api' | 'body'>;

interface Chosen {
  readonly instruction: BulkInstruction;
  readonly solution?: UsedSolution;
}

/**
 * Returns the instruction of the call, or that of its solution. For many orders, it refuses literal values unless `sameForAll` is set:
 * a value that fits one order would go to all of them.
 */
export async function bulkInstruction(call: Creation, isForMany: boolean): Promise<Chosen | Refusal> {
  const { instruction, solutionId, sameForAll = false } = call.body;
  const isVaried = isForMany && !sameForAll;
  if (solutionId !== undefined) return ofSolution(call, solutionId, isVaried);
  const errors = valueProblems(instruction as BulkInstruction, isVaried);
  return errors.length > 0 ? refuse('invalid', { errors }) : { instruction: instruction as BulkInstruction };
}

/** Fills the places of a solution. Its values may be expressions over each order. */
async function ofSolution({ api, body: { parameters = {} } }: Creation, id: string, isVaried: boolean): Promise<Chosen | Refusal> {
  const solution = await api.solutions.solution(id);
  if (!solution) return refuse('invalid', { errors: [noSuchSolution(id)] });
  const values = parameters as SolutionValues;
  const filled = filledSolution(solution, values);
  if (!filled.ok) return refuse('invalid', { errors: filled.problems });
  const literal = isVaried ? literalValueProblems(solution, values) : [];
  if (literal.length > 0) return refuse('invalid', { errors: literal });
  /** Names the parameter whose value is wrong, or the solution itself. */
  const named = (each: ProblemError): ProblemError => {
    const pointer = parameterPointer(solution.instruction, each.pointer);
    return { ...each, pointer: pointer === each.pointer ? '/solutionId' : pointer };
  };
  const errors = [...valueProblems(filled.instruction, isVaried, ''), ...bodyProblems(InstructionAlone, filled.instruction, '')];
  if (errors.length > 0) return refuse('invalid', { errors: errors.map(named) });
  return { instruction: filled.instruction, solution: { id, version: solution.version } };
}
