import type * as z from 'zod';
import type { Json } from '#core/data/json';
import { generalized } from '#core/solutions/generalize';
import { type SolutionInstruction, solutionLimits, type UsedSolution } from '#core/solutions/solution';
import { hasOrder, type TaskRecord } from '#ports/tasks';
import { withValues } from '#roles/bulk/fill';
import { newSolution, newSolutionId } from '#roles/solutions/solutions';
import { filledSolution, parameterPointer } from '#roles/solutions/use';
import { bodyProblems } from '#roles/submission/submission';
import { heldBy } from '#roles/tasks/act';
import { preparedEntry } from './audited.ts';
import { acknowledgeDestination } from './destination-tasks.ts';
import { type Around, instructOrder } from './instructions.ts';
import { conflict, isRefusal, type Refusal, refuse } from './problem.ts';
import type { Answer, Call } from './route.ts';
import { InstructionBody, type InstructionHeaders } from './schemas/instructions.ts';
import type { ResolveBody } from './schemas/tasks.ts';
import { draftProblems, noSuchSolution, tooManySolutions } from './solutions.ts';

type Resolving = Call<unknown, z.output<typeof InstructionHeaders>, z.output<typeof ResolveBody>>;

/**
 * Resolves a task with an instruction to its order, as `POST /orders/{id}/instructions` would carry it out. The write of the order closes
 * the task, so a refused instruction resolves nothing. A solution that the call makes of its instruction is part of that write.
 */
export async function resolveTask(call: Resolving): Promise<Answer | Refusal> {
  const { api, caller, id, body } = call;
  const { reason, dryRun } = body;
  const task = await api.tasks.task(id);
  if (!task) return refuse('not-found');
  if (!hasOrder(task)) return acknowledgeDestination(call);
  if (task.resolution && !dryRun)
    return (await answerOfRepeat(call, task)) ?? conflict([`${task.resolution.by} has resolved the task, so it needs nobody any more.`]);
  const isOthers = task.assignee !== undefined && task.assignee !== caller.subject && !caller.roles.has('admin');
  if (isOthers && !dryRun) return conflict([heldBy(task)]);
  const chosen = await chosenBy(call, task);
  if (isRefusal(chosen)) return chosen;
  const kept = await keptOf(call, task);
  if (isRefusal(kept)) return kept;

  const filledBody = { ...chosen.instruction, reason, ...(dryRun === undefined ? {} : { dryRun }) };
  const given = InstructionBody.safeParse(filledBody);
  if (!given.success) return chosen.named(refuse('invalid', { errors: bodyProblems(InstructionBody, filledBody as Json, '') }));
  const around: Around = { ...chosen.around, ...kept.around, ...keyedBy(body) };
  const answer = await instructOrder({ ...call, id: task.orderId, body: given.data }, around);
  if (isRefusal(answer)) return chosen.named(answer);
  if (answer.status === 202 && answer.headers?.['idempotent-replayed'] === undefined) await kept.stored();
  return answer;
}

/** An ETag that no order has. A repeated call is recognized before its ETag is compared, and any other call is refused. */
const noEtag = '"-1"';

/** Returns the answer to a call that has resolved the task already, under the same idempotency key; undefined if it has not. */
async function answerOfRepeat(call: Resolving, { orderId }: TaskRecord): Promise<Answer | Refusal | undefined> {
  const { headers, body } = call;
  if (headers['idempotency-key'] === undefined) return undefined;
  // A call with a solution has no instruction. Any kind will do, because the key then stands for the body.
  const { instruction = { kind: 'resubmit' }, reason } = body;
  const given = InstructionBody.safeParse({ ...instruction, reason });
  if (!given.success) return undefined;
  const repeated = { ...call, id: orderId, headers: { ...headers, 'if-match': noEtag }, body: given.data };
  const answer = await instructOrder(repeated, keyedBy(body));
  return isRefusal(answer) && answer.problem !== 'idempotency-key-reused' ? undefined : answer;
}

/**
 * Returns the content for which the idempotency key of a call stands: with a solution, or with `saveAs`, the whole body. Otherwise it
 * returns no content, and the key stands for the instruction, as in `POST /orders/{id}/instructions`.
 */
const keyedBy = (body: Resolving['body']): Pick<Around, 'keyed'> =>
  body.solutionId === undefined && body.saveAs === undefined ? {} : { keyed: body as Json };

interface Chosen {
  readonly instruction: SolutionInstruction;
  readonly around: Around;
  /** Returns a refusal whose errors point to the parameters of the solution, not to its instruction. */
  readonly named: (refusal: Refusal) => Refusal;
}

/** Returns the instruction of the call, or that of its solution with the places filled in. */
async function chosenBy({ api, body }: Resolving, { orderId, seq }: TaskRecord): Promise<Chosen | Refusal> {
  const { solutionId, parameters = {}, instruction } = body;
  if (solutionId === undefined) return { instruction: instruction as SolutionInstruction, around: {}, named: (refusal) => refusal };
  const solution = await api.solutions.solution(solutionId);
  if (!solution) return refuse('invalid', { errors: [noSuchSolution(solutionId)] });
  const filled = filledSolution(solution, parameters as { readonly [name: string]: Json });
  if (!filled.ok) return refuse('invalid', { errors: filled.problems });
  const valued = await withValues(filled.instruction, { orderId, seq }, api);
  if (!valued.ok)
    return refuse('infeasible', { errors: valued.refusals.map(({ code, detail }) => ({ pointer: '/solutionId', code, detail })) });
  return {
    instruction: valued.instruction,
    around: { solution: { id: solution.id, version: solution.version } },
    named: (refusal) => ({
      ...refusal,
      ...(refusal.errors
        ? { errors: refusal.errors.map((each) => ({ ...each, pointer: parameterPointer(solution.instruction, each.pointer) })) }
        : {}),
    }),
  };
}

interface Kept {
  readonly around: Around;
  /** Logs the audit's entry of a solution that was written. */
  readonly stored: () => Promise<void>;
}

const keepsNothing: Kept = { around: {}, stored: async () => undefined };

/** Returns the solution that the call makes of its instruction: the first version, with its entry in the audit. */
async function keptOf(call: Resolving, task: TaskRecord): Promise<Kept | Refusal> {
  const { api, caller, headers, body } = call;
  const { saveAs, instruction, reason } = body;
  if (!saveAs) return keepsNothing;
  const draft = {
    // Each write of an order has another ETag, so no two resolutions make the same id.
    id: newSolutionId(saveAs.name, [task.id, headers['if-match'] ?? null]),
    fingerprints: task.fingerprint === undefined ? [] : [task.fingerprint],
    ...saveAs,
    ...generalized(instruction as SolutionInstruction, task.fault?.source),
  };
  const errors = draftProblems(draft).map((each) => ({ ...each, pointer: `/saveAs${each.pointer}` }));
  if (errors.length > 0) return refuse('invalid', { errors });
  if ((await api.solutions.list()).length >= solutionLimits.solutionsMax) return tooManySolutions;
  const { solution, document } = newSolution(draft, caller.subject);
  const entry = preparedEntry(call, {
    kind: 'solution',
    target: draft.id,
    action: 'create',
    reason,
    before: null,
    after: document.content,
  });
  const used: UsedSolution = { id: solution.id, version: solution.version };
  return { around: { solution: used, beside: () => [document, ...entry.documents] }, stored: entry.stored };
}
