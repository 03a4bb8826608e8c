import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { refusedCheck } from '#core/instructions/check';
import type { Act } from '#roles/tasks/act';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { KeyHeaders } from './schemas/instructions.ts';
import type { ResolveBody } from './schemas/tasks.ts';
import { actOn } from './tasks.ts';

type Resolving = Call<unknown, z.output<typeof KeyHeaders>, z.output<typeof ResolveBody>>;

/**
 * Resolves the task of a destination that messages do not reach. A person mends the receiver, or changes the group, and acknowledges the
 * task; no other instruction fits such a task.
 */
export async function acknowledgeDestination(call: Resolving): Promise<Answer | Refusal> {
  const { instruction, saveAs, dryRun, reason } = call.body;
  const refusals = instruction?.kind === 'acknowledge' && !saveAs ? [] : [noOrder];
  if (dryRun) return json(200, { ...refusedCheck(undefined, refusals), feasible: refusals.length === 0 });
  if (refusals.length > 0) return refuse('infeasible', { errors: refusals });
  const act: Act = { action: 'resolve', reason, instruction: instruction as JsonObject };
  const answer = await actOn(call, act);
  return 'problem' in answer ? answer : { ...answer, status: 202 };
}

const noOrder = {
  code: 'nothing-to-do',
  pointer: '/instruction/kind',
  detail:
    'The task is about a destination of messages, and has no order to instruct. Mend the receiver, or change the group with PUT /groups/{name}; then resolve the task with acknowledge.',
} as const;
