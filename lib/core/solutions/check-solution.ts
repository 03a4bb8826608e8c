import { type Json, utf8Bytes } from '#core/data/json';
import { checkExceptionCondition, type RuleProblem } from '#core/rules/check-expressions';
import { brokenPlacesIn, type Place, placesIn } from './places.ts';
import { type Solution, solutionLimits } from './solution.ts';

type Draft = Pick<Solution, 'appliesWhen' | 'instruction' | 'parameters'>;

/** Returns the problems of a solution, apart from those of its instruction's shape. */
export const solutionProblems = (draft: Draft): readonly RuleProblem[] => [
  ...sizeProblems(draft),
  ...placeProblems(draft),
  ...(draft.appliesWhen === undefined ? [] : checkExceptionCondition(draft.appliesWhen, '/appliesWhen')),
];

function sizeProblems(draft: Draft): readonly RuleProblem[] {
  const bytes = utf8Bytes(JSON.parse(JSON.stringify(draft)) as Json);
  if (bytes <= solutionLimits.solutionBytesMax) return [];
  const detail = `The solution has ${bytes} bytes as JSON; the maximum is ${solutionLimits.solutionBytesMax}.`;
  return [{ pointer: '', code: 'too-large', detail }];
}

/** Each place needs its parameter, and each parameter its place. */
function placeProblems({ instruction, parameters }: Draft): readonly RuleProblem[] {
  const places = [...placesIn(instruction)];
  const names = parameters.map(({ name }) => name);
  const used = new Set(places.map(({ name }) => name));
  const ofKind = places.filter(({ path }) => path[0] === 'kind').map(({ path }) => path);
  const broken = [...ofKind, ...brokenPlacesIn(instruction)].map((path) => ({
    pointer: pointerTo(path),
    code: 'invalid-place',
    detail:
      'Expected a place such as {{amount}}: the name of a parameter between two pairs of braces. The `kind` of the instruction must not contain a place.',
  }));
  const unnamed = places
    .filter(({ name }) => !names.includes(name))
    .map(({ name, path }) => ({
      pointer: pointerTo(path),
      code: 'unknown-parameter',
      detail: `There is no parameter "${name}". Declare it in parameters, with the schema of its value.`,
    }));
  const own = parameters.flatMap(({ name }, index): readonly RuleProblem[] => {
    const pointer = `/parameters/${index}/name`;
    if (names.indexOf(name) !== index) return [{ pointer, code: 'duplicate', detail: `Two parameters have the name "${name}".` }];
    if (used.has(name)) return [];
    return [{ pointer, code: 'unused-parameter', detail: `The instruction has no place {{${name}}}.` }];
  });
  return [...broken, ...unnamed, ...own];
}

const pointerTo = (path: Place['path']): string =>
  `/instruction${path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}`;
