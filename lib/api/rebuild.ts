import type * as z from 'zod';
import type { StateHead } from '#ports/records';
import type { Examination } from '#roles/operator/rebuilding';
import { audited } from './audited.ts';
import { withLastDecision } from './last-decision.ts';
import { orRefusal } from './locks.ts';
import { etagOf } from './orders.ts';
import { conflict, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json, type Route, route } from './route.ts';
import { RebuildBody, RebuiltOrder } from './schemas/rebuild.ts';

/** Replaces the state of an order by the one that its journal tells, or gives the figures of that state. */
function rebuildOrder(call: Call<unknown, unknown, z.output<typeof RebuildBody>>): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, body } = call;
  const { reason, dryRun = false } = body;
  return orRefusal(call, async () => {
    const rebuilt = await audited(
      call,
      { kind: 'instruction', target: id, action: 'rebuild', reason },
      (entry) =>
        api.scheduler.rebuild(id, {
          id: requestId,
          by: caller.subject,
          reason,
          dryRun,
          beside: (before, after) => entry(standing(before), standing(after)),
        }),
      ({ outcome }) => outcome === 'rebuilt',
    );
    switch (rebuilt.outcome) {
      case 'not-found':
        return refuse('not-found');
      case 'finished':
        return conflict([
          'The order is finished, and a finished order does not change. With dryRun, the answer compares its state with its journal.',
        ]);
      case 'healthy':
        return withLastDecision(conflict([nothingToRebuild]), id, api.store);
      case 'infeasible':
        return refuse('infeasible', { errors: [{ pointer: '', code: 'unreadable', detail: `${rebuilt.found.difference} ${remedy}` }] });
      case 'examined':
      case 'rebuilt': {
        const isRebuilt = rebuilt.outcome === 'rebuilt';
        if (isRebuilt) api.telemetry.log('info', 'order rebuilt', { orderId: id, requestId, by: caller.subject });
        return answer(id, rebuilt.found, isRebuilt);
      }
    }
  });
}

const nothingToRebuild =
  'The state of the order can be read, and it is what the journal tells: there is nothing to rebuild. An order in Error goes on with resubmit. A call with dryRun answers with the numbers of journal lines and pages that were read.';
const remedy = 'Undo the order with compensate, or end it with terminate.';

const answer = (orderId: string, { head, isReadable, lines, pages, difference }: Examination, rebuilt: boolean): Answer =>
  json(
    200,
    {
      orderId,
      rev: head.rev,
      processState: head.processState,
      rebuilt,
      readable: isReadable,
      lines,
      pages,
      difference: difference ?? null,
    },
    { orderId, headers: { etag: etagOf(head.rev) } },
  );

const standing = ({ processState, fault }: StateHead) => ({ processState, fault: fault?.type ?? null });

/** The call with which an operator has an order rebuilt. */
export const rebuildRoute: Route = route({
  method: 'POST',
  path: '/orders/{id}/rebuild',
  roles: ['operator'],
  summary: 'Rebuild the state of an order from its journal, so that the order goes on',
  body: RebuildBody,
  answers: {
    200: {
      description: 'The state is rebuilt. With dryRun: the figures of the state that the journal gives; nothing was changed.',
      schema: RebuiltOrder,
    },
  },
  refusals: ['not-found', 'conflict', 'infeasible', 'locked'],
  handle: rebuildOrder,
});
