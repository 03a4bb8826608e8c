import { type CheckedHistory, checkHistories } from '#roles/evolution/histories';
import { type HistoriesCall, replayOnProposal } from './clusters.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, json } from './route.ts';
import { programNamed } from './workflows.ts';

/**
 * Says of a page of stored orders whether their histories fit a version of their workflow. With `cluster`, says whether its orders would
 * have ended without a person under the proposal for that cluster. Changes nothing.
 */
export async function checkStoredHistories(call: HistoriesCall): Promise<Answer | Refusal> {
  if (call.body.cluster !== undefined) return replayOnProposal(call, call.body.cluster);
  const { api, caller, name, id: version, body } = call;
  const program = programNamed(api.definitions, name, version);
  if (!program) return refuse('not-found');
  const scope = { key: api.cursorKey, bound: ['histories', caller.subject, name, version] };
  const opened = body.cursor === undefined ? undefined : openCursor(body.cursor, scope);
  if (body.cursor !== undefined && !opened) return badCursor;
  const after = opened && { submittedAt: Number(opened[0]), orderId: String(opened[1]) };
  const { items, next } = await checkHistories(program, { after, limit: body.limit }, api);
  return json(200, {
    items: items.map(itemView),
    fit: items.filter(({ fits }) => fits).length,
    checked: items.length,
    next: next ? sealCursor([next.submittedAt, next.orderId], scope) : null,
  });
}

const itemView = ({ head: { orderId, workflow, processState, outcome }, ...found }: CheckedHistory) => ({
  orderId,
  version: workflow.version,
  processState,
  outcome,
  ...found,
});
