import type * as z from 'zod';
import { heldBy } from '#roles/tasks/act';
import { instructOrder } from './instructions.ts';
import { conflict, type Refusal, refuse } from './problem.ts';
import type { Answer, Call } from './route.ts';
import { InstructionBody, type InstructionHeaders } from './schemas/instructions.ts';
import type { ResolveBody } from './schemas/tasks.ts';

/**
 * Resolves a task with an instruction to its order, as `POST /orders/{id}/instructions` would carry it out. The write of the order closes
 * the task, so a refused instruction resolves nothing.
 */
export async function resolveTask(
  call: Call<unknown, z.output<typeof InstructionHeaders>, z.output<typeof ResolveBody>>,
): Promise<Answer | Refusal> {
  const { api, caller, id, body } = call;
  const { instruction, reason, dryRun } = body;
  const task = await api.tasks.task(id);
  if (!task) return refuse('not-found');
  if (task.resolution && !dryRun) return conflict([`${task.resolution.by} has resolved the task, so it needs nobody any more.`]);
  const isOthers = task.assignee !== undefined && task.assignee !== caller.subject && !caller.roles.has('admin');
  if (isOthers && !dryRun) return conflict([heldBy(task)]);
  const given = InstructionBody.parse({ ...instruction, reason, ...(dryRun === undefined ? {} : { dryRun }) });
  return instructOrder({ ...call, id: task.orderId, body: given });
}
