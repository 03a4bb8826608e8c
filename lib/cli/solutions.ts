import { isObject, type Json, type JsonObject } from '#core/data/json';
import { solutionIdPattern } from '#core/solutions/solution';
import { jsonIn } from '#ports/util/json';
import { UsageError } from './errors.ts';
import type { Api } from './http.ts';
import { listed } from './orders.ts';
import { type Paint, printable, table } from './text.ts';

/** A solution, as the API shows it. */
export interface SolutionView extends JsonObject {
  readonly id: string;
  readonly name: string;
  readonly instruction: JsonObject & { readonly kind: string };
  readonly parameters: readonly { readonly name: string; readonly schema: JsonObject }[];
  readonly version: number;
  readonly stats: StatsView & JsonObject;
}

interface StatsView {
  readonly used: number;
  readonly passed: number;
  readonly failedAgain: number;
  readonly failedOtherwise: number;
  readonly lastUsedAt: string | null;
}

/** A solution that the API suggests for a task. */
export interface SuggestionView {
  readonly solutionId: string;
  readonly name: string;
  readonly used: number;
  readonly passed: number;
  readonly why: string;
  readonly feasible: boolean;
  readonly parameters: readonly { readonly name: string }[];
}

export const solutionPath = (id: string): string => `/solutions/${encodeURIComponent(checkedId(id))}`;

/**
 * Refuses an id that cannot exist. API Gateway decodes a path and then drops everything after a `?`, so the API would see another solution.
 */
function checkedId(id: string): string {
  if (solutionIdPattern.test(id)) return id;
  throw new UsageError(`Invalid solution id ${printable(id)}: expected 1 to 64 of a-z, 0-9 and "-". List them: redress solution list`);
}

export const solutionsOf = (api: Api): Promise<readonly SolutionView[]> => listed<SolutionView>(api, '/solutions');

const notInFile: ReadonlySet<string> = new Set(['id', 'version', 'createdBy', 'stats']);

/** Returns the fields of a solution that a person writes. */
export const solutionFileOf = (solution: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(solution).filter(([field]) => !notInFile.has(field)));

export const solutionsText = (solutions: readonly SolutionView[], paint: Paint): string =>
  solutions.length === 0
    ? ''
    : table(
        ['solution', 'does', 'used', 'passed', 'failed', 'last used', 'name'],
        solutions.map(({ id, instruction, stats: { used, passed, failedAgain, failedOtherwise, lastUsedAt }, name }) => [
          id,
          instruction.kind,
          String(used),
          String(passed),
          String(failedAgain + failedOtherwise),
          lastUsedAt ?? 'never',
          name,
        ]),
        paint,
      );

/** Returns a suggestion as one line: what it is, how often it worked, and what it still needs. */
export function suggestionText({ solutionId, name, used, passed, feasible, parameters }: SuggestionView): string {
  const worked = used === 0 ? 'never used' : `${passed} of ${used} passed`;
  const needs = parameters.length === 0 ? '' : `, needs ${parameters.map((each) => each.name).join(', ')}`;
  return `${solutionId} (${worked}${needs}${feasible ? '' : ', not feasible now'}): ${name}`;
}

/** Collects the values of `--parameter name=value`, given any number of times. */
export function parameterOption(given: string, before: readonly string[] = []): readonly string[] {
  if (/^[A-Za-z][A-Za-z0-9_]*=/.test(given)) return [...before, given];
  throw new UsageError(`Invalid parameter ${printable(given)}: expected name=value, such as amount=12.5.`);
}

/**
 * Returns the values of parameters. A value is JSON if it can be read as such. If its schema demands text, then `5`, `[1]` and `true` are
 * text, too; an object, which is never meant as text, and text in quotes are still read as JSON.
 */
export function parametersOf(given: readonly string[] = [], { parameters }: Pick<SolutionView, 'parameters'>): JsonObject {
  return Object.fromEntries(
    given.map((each) => {
      const [name, text] = [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)];
      const value = jsonIn(text) as Json | undefined;
      const isText =
        parameters.find((one) => one.name === name)?.schema['type'] === 'string' && !(typeof value === 'string' || isObject(value));
      return [name, value === undefined || isText ? text : value];
    }),
  );
}

export interface SolutionOptions {
  readonly solution?: string;
  readonly parameter?: readonly string[];
}

interface Chosen {
  readonly kind: string;
  /** The fields of the call that say what is to be done. */
  readonly body: JsonObject;
}

/** Returns the work for a call of the API: an instruction of a kind, or a solution with its values. */
export async function chosenWork(
  api: Api,
  kind: string,
  { solution: id, parameter, fields }: SolutionOptions & { readonly fields?: JsonObject },
): Promise<Chosen> {
  if ((kind === '') === (id === undefined)) throw new UsageError('Give the kind of an instruction, or a solution with --solution.');
  if (id === undefined) {
    if (parameter) throw new UsageError('--parameter goes with --solution. The fields of an instruction go into --fields.');
    return { kind, body: { instruction: { ...fields, kind } } };
  }
  if (fields) throw new UsageError('--fields goes with the kind of an instruction. The values of a solution go into --parameter.');
  const { body } = await api.call<SolutionView>('GET', solutionPath(id));
  return { kind: body.instruction.kind, body: { solutionId: id, parameters: parametersOf(parameter, body) } };
}
