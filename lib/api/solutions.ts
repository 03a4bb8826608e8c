import type * as z from 'zod';
import { solutionProblems } from '#core/solutions/check-solution';
import { placesIn } from '#core/solutions/places';
import type { SolutionFigures } from '#core/solutions/rank';
import { ruleOf } from '#core/solutions/rule-of';
import { type Solution, solutionIdPattern, solutionLimits } from '#core/solutions/solution';
import { timeText } from '#ports/messages';
import { valueProblems } from '#roles/bulk/fill';
import { exceptionGroups } from '#roles/exceptions/groups';
import { figuresOf } from '#roles/solutions/figures';
import type { SolutionDraft, SolutionWrite } from '#roles/solutions/solutions';
import { schemaProblem } from '#roles/solutions/use';
import { bodyProblems, pointerOf } from '#roles/submission/submission';
import { audited } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor, etagOf } from './orders.ts';
import { badParameter, conflict, type ProblemError, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas/common.ts';
import { InstructionAlone } from './schemas/instructions.ts';
import type { RuleOfSolutionBody, SolutionBody, SolutionDeletion, SolutionHeaders } from './schemas/solutions.ts';
import { conditionRefusal, lostRefusal } from './versioned.ts';

export async function listSolutions({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['solutions', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const [all, figures] = await Promise.all([api.solutions.list(), figuresOf(api.store)]);
  const rest = all.filter(({ id }) => id > String(after[0]));
  const items = rest.slice(0, query.limit);
  const last = items.at(-1);
  const next = rest.length > items.length && last ? sealCursor([last.id], scope) : null;
  return json(200, { items: items.map((solution) => solutionView(solution, figures(solution))), next });
}

export async function showSolution({ api, id }: Call): Promise<Answer | Refusal> {
  const solution = await api.solutions.solution(id);
  return solution ? answered(200, solution, api) : refuse('not-found');
}

type Put = Call<unknown, z.output<typeof SolutionHeaders>, z.output<typeof SolutionBody>>;

/** Writes a solution, if it is still the version that the person has read. */
export async function putSolution(call: Put): Promise<Answer | Refusal> {
  const { api, caller, id, headers, body, requestId } = call;
  if (!solutionIdPattern.test(id)) return badParameter('/id', 'invalid-format', 'id: expected 1 to 64 of a-z, 0-9 and "-".');
  const before = await api.solutions.solution(id);
  const refusal = conditionRefusal(headers['if-match'], before?.version);
  if (refusal) return refusal;
  const { reason, name = id, ...fields } = body;
  const draft = { ...fields, id, name } as SolutionDraft;
  const errors = draftProblems(draft);
  if (errors.length > 0) return refuse('invalid', { errors });
  const written = await audited(
    call,
    { kind: 'solution', target: id, action: before ? 'change' : 'create', reason },
    (beside) => api.solutions.put(draft, { by: caller.subject, expected: before?.version, beside }),
    ({ outcome }) => outcome === 'written',
  );
  if (written.outcome !== 'written') return writeRefusal(written, headers['if-match']);
  const { solution, isNew } = written;
  api.telemetry.log('info', 'solution written', { requestId, by: caller.subject, solution: id, version: solution.version });
  return answered(isNew ? 201 : 200, solution, api);
}

/** Returns every problem of a solution as a person writes it. Values that parameters stand for are checked when somebody gives them. */
export function draftProblems(draft: SolutionDraft): readonly ProblemError[] {
  const { instruction, parameters } = draft;
  const places = [...placesIn(instruction)].map(({ path }) => `/instruction${pointerOf(path)}`);
  const isAtPlace = ({ pointer }: ProblemError): boolean => places.some((place) => `${pointer}/`.startsWith(`${place}/`));
  const ofInstruction = [...bodyProblems(InstructionAlone, instruction, '/instruction'), ...valueProblems(instruction, false)];
  const ofSchemas = parameters.flatMap(({ schema }, index) => {
    const detail = schemaProblem(schema);
    return detail === undefined ? [] : [{ pointer: `/parameters/${index}/schema`, code: 'invalid-schema', detail }];
  });
  return [...solutionProblems(draft), ...ofInstruction.filter((each) => !isAtPlace(each)), ...ofSchemas];
}

type Delete = Call<z.output<typeof SolutionDeletion>, z.output<typeof SolutionHeaders>>;

export async function deleteSolution(call: Delete): Promise<Answer | Refusal> {
  const { api, caller, id, headers, query, requestId } = call;
  const before = await api.solutions.solution(id);
  if (!before) return refuse('not-found');
  const refusal = conditionRefusal(headers['if-match'], before?.version);
  if (refusal) return refusal;
  const removed = await audited(
    call,
    { kind: 'solution', target: id, action: 'delete', reason: query.reason },
    (beside) => api.solutions.remove(id, { by: caller.subject, expected: before.version, beside }),
    (result) => result?.outcome === 'written',
  );
  if (!removed) return refuse('not-found');
  if (removed.outcome !== 'written') return writeRefusal(removed, headers['if-match']);
  api.telemetry.log('info', 'solution deleted', { requestId, by: caller.subject, solution: id });
  return json(200, { id, deletedAt: timeText(api.clock.now()) });
}

/** Makes the definition of a rule that does by itself what the solution does. Nothing is written. */
export async function ruleOfSolution(call: Call<unknown, unknown, z.output<typeof RuleOfSolutionBody>>): Promise<Answer | Refusal> {
  const { api, id, body } = call;
  const solution = await api.solutions.solution(id);
  if (!solution) return refuse('not-found');
  const made = ruleOf(solution, body.parameters as Parameters<typeof ruleOf>[1], await exceptionGroups(api.store, api.clock.now()));
  return made.ok ? json(200, { rule: made.value }) : refuse('invalid', { errors: made.problems });
}

export const noSuchSolution = (id: string): ProblemError => ({
  pointer: '/solutionId',
  code: 'no-such-solution',
  detail: `There is no solution "${id}". GET /solutions lists them.`,
});

export const tooManySolutions = conflict([
  `There are ${solutionLimits.solutionsMax} solutions, which is the limit. Delete one that nobody needs any more.`,
]);

function writeRefusal(written: Exclude<SolutionWrite, { outcome: 'written' }>, ifMatch: string | undefined): Refusal {
  if (written.outcome === 'too-many') return tooManySolutions;
  return lostRefusal(ifMatch, written.current?.version);
}

const answered = async (status: 200 | 201, solution: Solution, { store }: Pick<Call['api'], 'store'>): Promise<Answer> =>
  json(status, solutionView(solution, (await figuresOf(store))(solution)), { headers: { etag: etagOf(solution.version) } });

const solutionView = ({ instructionSince: _, ...solution }: Solution, { lastUsedAt, ...stats }: SolutionFigures) => ({
  ...solution,
  stats: { ...stats, lastUsedAt: lastUsedAt === null ? null : timeText(lastUsedAt) },
});
