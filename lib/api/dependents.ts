import type * as z from 'zod';
import { definitionPath, isUndoPath } from '#core/data/ids';
import { type Program, relocated } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { dependentsOf } from '#core/recovery/dependents';
import { consumersOf, withoutTime } from '#roles/recovery/consumers';
import { writesOf } from '#roles/recovery/writes-of';
import { auditedRead } from './audited.ts';
import { readJournal } from './history.ts';
import { visibleOrder } from './orders.ts';
import { unknownVersion } from './plan.ts';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json, type Route, route } from './route.ts';
import { DependentsQuery, OrderDependents } from './schemas/dependents.ts';

export const dependentsRoute: Route = route({
  method: 'GET',
  path: '/orders/{id}/dependents',
  roles: ['viewer', 'operator'],
  summary: 'Show what depends on a step by data or by control, and who consumed what it wrote',
  query: DependentsQuery,
  answers: { 200: { description: 'The dependents, by their paths, and the consumers in other orders', schema: OrderDependents } },
  refusals: ['not-found', 'conflict', 'bad-parameter'],
  handle: showDependents,
});

async function showDependents(call: Call<z.output<typeof DependentsQuery>>): Promise<Answer | Refusal> {
  const { api, query } = call;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');
  const { orderId } = found.order;
  const defined = api.definitions.programOf(found.state);
  if (!defined) return unknownVersion(found.state);
  const path = activityNamed(defined, query.path);
  if (path === undefined) return noActivity;
  await auditedRead(call, orderId);
  const { journal, instance } = await readJournal(api.store, found.state);
  const program = instance ? withRuledUndos(defined, instance.state) : defined;
  const { data, control, scope } = dependentsOf(defined, definitionPath(path));
  const here = (paths: readonly string[]): readonly string[] => paths.map((each) => relocated(each, path));
  const { items, more } = await consumersOf(writesOf(program, orderId, journal, path), api.store);
  return json(
    200,
    { orderId, path, data: here(data), control: here(control), scope: here(scope), consumers: items.map(withoutTime), more },
    { orderId },
  );
}

/** Returns the path of the activity that a text names: its path, with or without the turns of loops, or a name that only it has. */
function activityNamed({ nodes }: Program, text: string): string | undefined {
  if (nodes.has(definitionPath(text)) && !isUndoPath(text)) return text;
  const [only, ...others] = [...nodes].flatMap(([path, { name }]) => (name === text && !isUndoPath(path) ? [path] : []));
  return others.length === 0 ? only : undefined;
}

const noActivity = badParameter(
  '/path',
  'unknown-activity',
  'path: expected the path of an activity of the workflow, such as order/charge, or a name that only one activity has.',
);
