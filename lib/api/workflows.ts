import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { type Activity, isRemote } from '#core/definition/definition';
import { assignedIn, type Program } from '#core/definition/program';
import { parseWorkflowRef, workflowRef } from '#core/definition/workflow-ref';
import { drawingOf } from '#core/views/diagram';
import { faultPathsOf } from '#core/views/fault-paths';
import type { Definitions } from '#ports/definitions';
import { timeText } from '#ports/messages';
import type { StepCounts } from '#roles/overview/steps';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas/common.ts';

/** Lists the workflows of the app, and those that unfinished orders need, with the live orders of each version. */
export async function listWorkflows({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['workflows', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const counts = await api.steps();
  const known = [...api.definitions.names(), ...Object.keys(counts.versions).map((ref) => parseWorkflowRef(ref).name)];
  const rest = [...new Set(known)].toSorted().filter((name) => name > String(after[0]));
  const items = rest.slice(0, query.limit).map((name) => ({
    name,
    version: api.definitions.newest(name)?.definition.version ?? null,
    versions: versionsOf(name, api.definitions, counts),
    asOf: timeText(counts.asOf),
  }));
  const last = items.at(-1);
  return json(200, { items, next: rest.length > items.length && last ? sealCursor([last.name], scope) : null });
}

/** Shows a version of a workflow: its definition, which never changes while the app has it, and the orders at each step. */
export async function showWorkflow({ api: { definitions, steps }, name, id: version }: Call): Promise<Answer | Refusal> {
  const program = programNamed(definitions, name, version);
  return program ? json(200, workflowView(program, definitions, await steps())) : refuse('not-found');
}

/** Returns the version of a workflow that a path of the API names. */
export const programNamed = (definitions: Definitions, name: string, version: string): Program | undefined =>
  /^[1-9]\d{0,8}$/.test(version) ? definitions.program(name, Number(version)) : undefined;

function workflowView({ definition, nodes }: Program, definitions: Definitions, counts: StepCounts) {
  const { name, version, order, root } = definition;
  const undos = new Set([...nodes].flatMap(([path, { undo }]) => (undo ? [`${path}/${undo.name}`] : [])));
  const { running = {}, blocked = {} } = counts.versions[workflowRef(definition)] ?? {};
  const steps = [...nodes].flatMap(([path, node]) =>
    undos.has(path)
      ? []
      : stepView(path, node, definitions).map((step) => ({ ...step, blocked: blocked[path] ?? 0, running: running[path] ?? 0 })),
  );
  return {
    name,
    version,
    versions: versionsOf(name, definitions, counts),
    asOf: timeText(counts.asOf),
    graph: drawingOf(definition).items,
    steps,
    order,
    variables: [...new Set(assignedIn(root))],
    faults: faultPathsOf(definition),
  };
}

function versionsOf(name: string, { workflows }: Definitions, { versions }: StepCounts) {
  const inApp = new Set(workflows.flatMap((workflow) => (workflow.name === name ? [workflow.version] : [])));
  const live = Object.keys(versions).flatMap((ref) => (parseWorkflowRef(ref).name === name ? [parseWorkflowRef(ref).version] : []));
  return [...new Set([...inApp, ...live])]
    .toSorted((one, other) => other - one)
    .map((version) => ({ version, live: versions[workflowRef({ name, version })]?.live ?? 0, inApp: inApp.has(version) }));
}

interface StepView {
  readonly path: string;
  readonly name: string;
  readonly activity: string;
  readonly agent: string | null;
  readonly operation: string | null;
  readonly undo: string | null;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
}

/** Returns a step, a call or a wait; nothing for the other activities. */
function stepView(path: string, node: Activity, { catalog }: Pick<Definitions, 'catalog'>): readonly StepView[] {
  const { name, activity } = node;
  if (isRemote(node)) {
    const { agent, operation, undo } = node;
    const { input, output } = catalog.schemasOf(agent, operation) ?? {};
    const undoneBy = undo ? `${undo.agent}.${undo.operation}` : null;
    return [{ path, name, activity, agent, operation, undo: undoneBy, ...schemas(input, output) }];
  }
  const wait = { path, name, activity, agent: null, operation: null, undo: null };
  if (node.activity === 'delay') return [wait];
  if (node.activity === 'waitFor') return [{ ...wait, ...schemas(undefined, node.payload) }];
  if (node.activity === 'askOperator') return [{ ...wait, ...schemas(undefined, node.answer) }];
  return [];
}

const schemas = (inputSchema: JsonObject | undefined, outputSchema: JsonObject | undefined) => ({
  ...(inputSchema ? { inputSchema } : {}),
  ...(outputSchema ? { outputSchema } : {}),
});
