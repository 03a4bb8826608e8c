import type * as z from 'zod';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { scopeNamed, type UndoPlan, undoPlan } from '#core/views/undo-plan';
import { type StateRecord, subjectOf } from '#ports/records';
import { rebuild } from '#roles/repair/rebuild';
import { withUndoPages } from '#roles/scheduler/paging';
import { redactedPlan } from '#roles/scheduler/redaction';
import { stepsOf } from '#roles/scheduler/step-report';
import { auditedRead } from './audited.ts';
import { readJournal } from './history.ts';
import { visibleOrder } from './orders.ts';
import { badParameter, isRefusal, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PlanQuery } from './schemas/instructions.ts';

export async function showPlan(call: Call<z.output<typeof PlanQuery>>): Promise<Answer | Refusal> {
  const { id, query } = call;
  const planned = await plannedUndo(call, query.undo);
  return isRefusal(planned) ? planned : json(200, { orderId: id, ...planned }, { orderId: id });
}

/** Returns what an undo of a scope would do now. Rebuilds an unreadable instance first, as `compensate` does. */
export async function plannedUndo(call: Call, scope: string): Promise<UndoPlan | Refusal> {
  const { api } = call;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');
  const { order, state: record } = found;
  const defined = api.definitions.programOf(record);
  if (!defined) return unknownVersion(record);
  const path = scopeNamed(defined, scope);
  if (path === undefined) return noScope;

  await auditedRead(call, order.orderId);
  const {
    journal,
    instance = rebuild({ program: defined, order, record }, await api.store.pages(order.orderId), api.clock.now()).instance,
  } = await readJournal(api.store, record);
  const program = withRuledUndos(defined, instance.state);
  const done = stepsOf(program, journal, instance.state).filter(({ result }) => result === 'Succeeded');
  const plan = undoPlan(
    program,
    subjectOf(order),
    await withUndoPages(api.store, order.orderId, instance.state),
    path,
    done.map((step) => step.path),
  );
  return redactedPlan({ program, order, record, instance }, plan);
}

/** Refuses a call because the app does not have the workflow version of the order. */
export const unknownVersion = ({ workflow: { name, version } }: StateRecord): Refusal =>
  refuse('conflict', {
    errors: [
      {
        pointer: '',
        code: 'unknown-version',
        detail: `The workflow ${name}@${version} of this order is not deployed. Deploy it, then try again.`,
      },
    ],
  });

const noScope = badParameter(
  '/undo',
  'unknown-scope',
  'undo: expected the name or path of a composite of the workflow, such as order; omit it for the whole order.',
);
