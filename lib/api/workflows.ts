import type { JsonObject } from '#core/data/json';
import { type Activity, isRemote } from '#core/definition/definition';
import { assignedIn, type Program } from '#core/definition/program';
import { drawingOf } from '#core/views/diagram';
import type { Definitions } from '#ports/definitions';
import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';

/** Shows a definition. It never changes while the app has it. */
export function showWorkflow({ api: { definitions }, name, id: version }: Call): Answer | Refusal {
  const program = /^[1-9]\d{0,8}$/.test(version) ? definitions.program(name, Number(version)) : undefined;
  return program ? json(200, workflowView(program, definitions)) : refuse('not-found');
}

function workflowView({ definition, nodes }: Program, definitions: Definitions) {
  const { name, version, order, root } = definition;
  const undos = new Set([...nodes].flatMap(([path, { undo }]) => (undo ? [`${path}/${undo.name}`] : [])));
  const steps = [...nodes].flatMap(([path, node]) => (undos.has(path) ? [] : stepView(path, node, definitions)));
  const graph = drawingOf(definition).items;
  return { name, version, graph, steps, order, variables: [...new Set(assignedIn(root))] };
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
