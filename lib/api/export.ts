import type * as z from 'zod';
import type { Json } from '#core/data/json';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { caseOf } from '#roles/cases/case';
import { salvagedJournal } from '#roles/repair/rebuild';
import { readableInstance } from '#roles/scheduler/instance';
import { storedJournal } from '#roles/scheduler/step-report';
import { auditedRead } from './audited.ts';
import { boundedPage } from './bounded.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor, visibleOrder } from './orders.ts';
import { unknownVersion } from './plan.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json, type Route, route } from './route.ts';
import { PageQuery } from './schemas/common.ts';
import { ExportedOrder } from './schemas/export.ts';

/** Answers with an order as a case: all that a replay on another machine needs, without its secrets. */
async function exportOrder(call: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const { api, caller, id, query } = call;
  const scope = { key: api.cursorKey, bound: ['export', caller.subject, id] };
  const after = query.cursor === undefined ? [0] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');
  const { order, state: head } = found;
  const defined = api.definitions.programOf(head);
  if (!defined) return unknownVersion(head);

  await auditedRead(call, id);
  const instance = readableInstance(head);
  const pages = await api.store.pages(id);
  const lines = instance ? storedJournal(pages, instance.tail) : salvagedJournal(head, pages).entries;
  const program = instance ? withRuledUndos(defined, instance.state) : defined;
  const { catalog } = api.definitions;
  const { journal, ...rest } = caseOf({ program, order, head, instance, lines, catalog, rules: await api.rules.list() });
  const left = journal.filter(({ seq }) => seq > Number(after[0]));
  const items = boundedPage(left.slice(0, query.limit));
  const last = items.at(-1);
  const next = left.length > items.length && last ? sealCursor([last.seq], scope) : null;
  return json(200, { ...(query.cursor === undefined ? { case: rest as unknown as Json } : {}), items, next }, { orderId: id });
}

/** The call with which an operator takes an order to another machine. */
export const exportRoute: Route = route({
  method: 'GET',
  path: '/orders/{id}/export',
  roles: ['viewer', 'operator'],
  summary: 'Export an order with its workflow, state and journal, without its secrets, so that a developer can replay it',
  query: PageQuery,
  answers: { 200: { description: 'The order as a case, with a page of its journal', schema: ExportedOrder } },
  refusals: ['not-found', 'conflict'],
  handle: exportOrder,
});
