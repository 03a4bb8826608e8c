import type { Json } from '#core/data/json';
import { sampleOfJson } from '#core/definition/sample';
import { withoutSealed } from '#core/definition/sealed';
import { type ExceptionFacts, type Why, whyApplies } from '#core/solutions/applies';
import { filledPlaces } from '#core/solutions/places';
import { ranked, type SolutionFigures } from '#core/solutions/rank';
import { type Solution, solutionLimits } from '#core/solutions/solution';
import { timeText } from '#ports/messages';
import { hasOrder, type TaskRecord } from '#ports/tasks';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { withValues } from '#roles/bulk/fill';
import { exceptionOf } from '#roles/exceptions/read';
import type { Instruction } from '#roles/operator/instruction';
import { readableOrder } from '#roles/scheduler/load';
import { figuresOf } from '#roles/solutions/figures';
import { exceptionView } from './exceptions.ts';
import { carryOutAudited } from './instructions.ts';
import { isRefusal } from './problem.ts';
import type { Call } from './route.ts';
import { InstructionBody } from './schemas/instructions.ts';
import { withoutSecrets } from './views.ts';

interface Applying {
  readonly solution: Solution;
  readonly figures: SolutionFigures;
  readonly why: Why;
}

/** Returns the solutions that apply to the exception of an open task, the most trusted first. */
export async function suggestionsFor(call: Call, task: TaskRecord) {
  if (task.resolution || !hasOrder(task)) return [];
  const all = await call.api.solutions.list();
  if (all.length === 0) return [];
  const facts = await factsFor(call.api, task, all);
  const applying = all.flatMap((solution) => {
    const why = whyApplies(solution, facts);
    return why === undefined ? [] : [{ solution, why }];
  });
  if (applying.length === 0) return [];
  const figures = await figuresOf(call.api.store);
  const best = ranked(applying.map((each) => ({ ...each, figures: figures(each.solution) }))).slice(0, solutionLimits.suggestionsMax);
  return allSettledOrThrow(best.map(async (each) => suggestionView(each, await isFeasible(call, task, each.solution))));
}

/**
 * Returns the facts that the conditions of solutions read. It reads the exception and the order only if there is a condition, and leaves
 * out their secrets.
 */
async function factsFor(api: Call['api'], task: TaskRecord, all: readonly Solution[]): Promise<ExceptionFacts> {
  const alone = { fingerprint: task.fingerprint, at: timeText(api.clock.now()) };
  if (task.exceptionId === undefined || all.every(({ appliesWhen }) => appliesWhen === undefined)) return alone;
  const [exception, loaded] = await allSettledOrThrow([exceptionOf(task.exceptionId, api.store), readableOrder(task.orderId, api)]);
  return {
    ...alone,
    exception: exception && (JSON.parse(JSON.stringify(exceptionView(exception))) as Json),
    order: loaded && withoutSealed(withoutSecrets(loaded.order.body, loaded.program)),
  };
}

const suggestionView = ({ solution, figures: { used, passed, failedAgain }, why }: Applying, feasible: boolean) => {
  const { id: solutionId, name, instruction, parameters } = solution;
  return { solutionId, name, used, passed, failedAgain, why, instruction, parameters, feasible };
};

/** Refusals that depend on the values which a person gives. */
const valueRefusals: ReadonlySet<string> = new Set(['input-invalid', 'output-invalid', 'output-missing']);

/** Checks a solution on the order of a task. Made-up values stand for its parameters; a refusal of those values does not count. */
async function isFeasible(call: Call, { orderId, seq }: TaskRecord, { instruction, parameters }: Solution): Promise<boolean> {
  const { api, caller, requestId } = call;
  const samples = Object.fromEntries(parameters.map(({ name, schema }) => [name, sampleOfJson(schema, name)]));
  const filled = await withValues(filledPlaces(instruction, samples), { orderId, seq }, api);
  if (!filled.ok) return false;
  const given = InstructionBody.safeParse({ ...filled.instruction, reason: 'a check', dryRun: true });
  const hasParameters = parameters.length > 0;
  if (!given.success) return hasParameters;
  const { dryRun: _, ...checked } = given.data;
  const instructed = await carryOutAudited({ ...call, id: orderId }, { by: caller.subject, ...checked } as Instruction, {
    id: requestId,
    dryRun: true,
  });
  if (isRefusal(instructed)) return false;
  if (instructed.outcome === 'invalid') return hasParameters;
  if (instructed.outcome !== 'planned') return false;
  const { feasible, refusals } = instructed.check;
  return feasible || (hasParameters && refusals.every(({ code }) => valueRefusals.has(code)));
}
