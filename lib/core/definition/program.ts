import { type ActivityType, answersLater, behaviorOf, localOf, stepOf } from '#core/activities/index';
import { engineFault, engineFaults, shortType } from '#core/data/fault';
import { definitionPath, isUndoPath, undonePath, undoPathOf } from '#core/data/ids';
import { isObject, type Json } from '#core/data/json';
import type { ActivityState, State } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { type Activity, isRemote, rootPath, type Template, type WorkflowDefinition } from './definition.ts';
import { type Evaluation, type Parsed, parseExpression, type Scope } from './expression.ts';

/** A definition prepared once: its nodes by path, and the outputs that expressions read. */
export interface Program {
  readonly definition: WorkflowDefinition;
  /** Every node by its path, in the order of the definition. Paths of loops show no index. */
  readonly nodes: ReadonlyMap<string, Activity>;
  /** Paths of the steps whose output an expression reads, by the name under which it is read. */
  readonly readOutputs: ReadonlyMap<string, string>;
  /** The outputs that no expression reads after this activity has closed, by the path of the activity. */
  readonly lastRead: ReadonlyMap<string, readonly string[]>;
}

/** Whether a template is the condition on the output of its own step. It is evaluated when that output arrives. */
export const isOfOutput = (node: Activity, template: Template): boolean => isRemote(node) && node.expects?.condition === template;

const programs = new WeakMap<WorkflowDefinition, Program>();

export function programOf(definition: WorkflowDefinition): Program {
  const known = programs.get(definition);
  if (known) return known;

  const nodes = new Map<string, Activity>();
  const readers = new Map<string, string[]>();
  const visit = (node: Activity, path: string, undoOf?: string): void => {
    nodes.set(path, node);
    // An undo is evaluated when its step closes, so the output need not be kept for it.
    for (const template of behaviorOf(node.activity).templates(node))
      for (const name of stepsRead(template))
        if (name !== undoOf && !(name === node.name && isOfOutput(node, template))) readers.set(name, [...(readers.get(name) ?? []), path]);
    for (const child of childrenOf(node)) visit(child, `${path}/${child.name}`, child === node.undo ? node.name : undefined);
  };
  visit(definition.root, rootPath);

  const readOutputs = new Map<string, string>();
  for (const [path, node] of nodes) if (answersLater(node) && readers.has(node.name)) readOutputs.set(node.name, path);
  const lastRead = lastReadOf(nodes, readOutputs, readers);
  const program = { definition, nodes, readOutputs, lastRead };
  programs.set(definition, program);
  return program;
}

/**
 * Returns where each output is read last. The innermost composite around the step and all readers decides: if it is a
 * sequence, its last child that reads; otherwise the composite itself.
 */
function lastReadOf(
  nodes: ReadonlyMap<string, Activity>,
  readOutputs: ReadonlyMap<string, string>,
  readers: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const lastRead = new Map<string, string[]>();
  for (const [name, path] of readOutputs) {
    const reading = readers.get(name) ?? [];
    const together = [path, ...reading].reduce(commonPath);
    const around = nodes.get(together);
    const places = reading.map((each) => placeOf(around, each.slice(together.length + 1).split('/')[0]));
    const child = around?.activity === 'sequence' && !places.includes(-1) ? around.children[Math.max(...places)] : undefined;
    const last = child ? `${together}/${child.name}` : together;
    lastRead.set(last, [...(lastRead.get(last) ?? []), path]);
  }
  return lastRead;
}

const placeOf = (around: Activity | undefined, name: string | undefined): number =>
  around?.activity === 'sequence' ? around.children.findIndex((child) => child.name === name) : -1;

function commonPath(one: string, other: string): string {
  const names = other.split('/');
  return one
    .split('/')
    .filter((_, index, all) => all.slice(0, index + 1).every((each, at) => each === names[at]))
    .join('/');
}

/** Returns all activities directly inside another one, in order: its children, the bodies of its fault handlers, and its undo. */
export const childrenOf = (node: Activity): readonly Activity[] => [
  ...behaviorOf(node.activity).children(node),
  ...(node.faultHandlers ?? []).map((handler) => handler.do),
  ...(node.undo ? [node.undo] : []),
];

/** Returns the variables that are set anywhere inside an activity. */
export const assignedIn = (node: Activity): readonly string[] => [
  ...(node.activity === 'assign' ? [node.variable] : []),
  ...childrenOf(node).flatMap(assignedIn),
];

/** Returns the node at a path of an instance, in which loops have an index: `order/items[3]/pack`. */
export const nodeAt = (program: Program, path: string): Activity => {
  const node = program.nodes.get(definitionPath(path)) ?? ruledUndoAt(program, path);
  if (!node) throw new Error(`The workflow ${program.definition.name} has no activity at ${path}.`);
  return node;
};

/** Stands for the undo that a rule has given to a step of one order, for readers that know the definition alone. */
const someRuledUndo = { activity: 'step', name: 'undo', agent: '', operation: '', input: null } as const;

const ruledUndoAt = ({ nodes }: Program, path: string): Activity | undefined => {
  const step = isUndoPath(path) ? nodes.get(definitionPath(undonePath(path))) : undefined;
  return step && isRemote(step) ? someRuledUndo : undefined;
};

/** Returns the local state of the open step or call at a path. Undefined if there is none, or if it failed before it could start. */
export function stepAt(program: Program, { activities }: Pick<State, 'activities'>, path: string): StepState | undefined {
  const activity = activities[path];
  return activity && stepOf(nodeAt(program, path), activity);
}

export const behaviorAt = (program: Program, path: string) => behaviorOf(nodeAt(program, path).activity as ActivityType);

/** Returns when to wake an activity. A canceled or faulting activity waits for its children only, unless it is a step or a call. */
export function wakeAtOf(program: Program, path: string, { status, local }: ActivityState): number | undefined {
  const node = nodeAt(program, path);
  return status === 'Executing' || isRemote(node) ? behaviorOf(node.activity).wakeAt?.(local) : undefined;
}

/** Returns the path of the enclosing activity; undefined for the root. */
export const parentOf = (path: string): string | undefined => {
  const slash = path.lastIndexOf('/');
  if (slash < 0) return undefined;
  const around = path.slice(0, slash);
  return around.endsWith(']') ? around.slice(0, around.lastIndexOf('[')) : around;
};

/** Yields every expression in a template, with its JSON pointer. */
export function* expressionsIn(template: Template, pointer = ''): Generator<{ text: string; pointer: string }> {
  if (isCel(template)) yield { text: template.$cel, pointer };
  else if (Array.isArray(template)) for (const [index, entry] of template.entries()) yield* expressionsIn(entry, `${pointer}/${index}`);
  else if (isObject(template))
    for (const [key, entry] of Object.entries(template))
      yield* expressionsIn(entry as Template, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

type Instance = Pick<State, 'outputs' | 'vars' | 'inputs'> & Partial<Pick<State, 'activities'>>;

/**
 * Returns the values that expressions at a path of an instance may read. These are the order, kept outputs, variables,
 * the entries of enclosing loops, and the fault being handled there.
 */
export function scopeOf(
  program: Program,
  { orderId, order }: { readonly orderId: string; readonly order: Json },
  { outputs, vars = {}, activities = {} }: Instance,
  at: string,
): Scope {
  const steps: { [name: string]: Json } = {};
  for (const [name, path] of program.readOutputs) {
    const output = outputs[at.includes('[') ? relocated(path, at) : path];
    if (output !== undefined) steps[name] = output;
  }
  const fault = handledAround(activities, at);
  const scope = fault === undefined ? { orderId, order, steps, vars } : { orderId, order, steps, vars, fault };
  return at.includes('[') ? { ...scope, each: entriesAround(program, scope, activities, at) } : scope;
}

/**
 * Returns the input of a step's request, as the state has it. The input of an undo or a confirmation is stored. That of a step is evaluated
 * again, unless it is stored too or a person gave it.
 */
export function inputOf(
  program: Program,
  subject: { readonly orderId: string; readonly order: Json },
  state: Instance & Pick<State, 'undo'>,
  path: string,
): Evaluation {
  const node = nodeAt(program, path);
  const { mode, input } = stepOf(node, state.activities?.[path]) ?? {};
  if (mode === 'undo') return { ok: true, value: state.undo?.find((entry) => undoPathOf(entry.path) === path)?.input ?? null };
  const stored =
    input ?? (mode === 'confirm' ? state.undo?.find((entry) => entry.path === path)?.requestInput : undefined) ?? state.inputs?.[path];
  if (stored !== undefined) return { ok: true, value: stored };
  return fill(isRemote(node) ? node.input : null, scopeOf(program, subject, state, path));
}

/** Returns the path of an activity as seen from another one: in the same turns of the loops that enclose both. */
export function relocated(path: string, at: string): string {
  const here = at.split('/');
  let together = true;
  return path
    .split('/')
    .map((name, index) => {
      const seen = here[index] ?? '';
      together &&= seen === name || seen.startsWith(`${name}[`);
      return together ? seen : name;
    })
    .join('/');
}

/** Returns the fault of the nearest enclosing composite with a running handler. */
function handledAround(activities: State['activities'], at: string): Json | undefined {
  for (let path: string | undefined = at; path !== undefined; path = parentOf(path)) {
    const { handling, fault } = activities[path] ?? {};
    if (handling && fault)
      return { type: shortType(fault.type), message: fault.message, source: fault.source ?? '', data: fault.data ?? null };
  }
  return undefined;
}

/**
 * Returns the entry and the index of each enclosing loop by its name. The list is evaluated again unless the loop has
 * stored its entries.
 */
function entriesAround(program: Program, scope: Scope, activities: State['activities'], at: string): { [name: string]: Json } {
  const entries: { [name: string]: Json } = {};
  for (const [, path = '', index = ''] of at.matchAll(/(?<=^(.*?))\[(\d+)\]/g)) {
    const node = nodeAt(program, path);
    if (node.activity !== 'forEach') continue;
    const kept = localOf(node, activities[path])?.entries;
    const list: Evaluation = kept ? { ok: true, value: kept } : fill(node.list, { ...scope, each: { ...entries } });
    const item = list.ok && Array.isArray(list.value) ? (list.value[Number(index)] ?? null) : null;
    entries[node.name] = { item, index: Number(index) };
  }
  return entries;
}

/** Fills a template: each expression is replaced by its value. */
export const fill = (template: Template, scope: Scope): Evaluation => fillWith(parseExpression, template, scope);

/** Fills a template whose expressions are in the language of this parser. */
export function fillWith<S>(parse: (text: string) => Parsed<S>, template: Template, scope: S): Evaluation {
  if (isCel(template)) {
    const parsed = parse(template.$cel);
    if (parsed.ok) return parsed.expression.evaluate(scope);
    return { ok: false, fault: engineFault(engineFaults.expressionFailed, `${template.$cel}: ${parsed.message}`) };
  }
  if (Array.isArray(template)) {
    const list: Json[] = [];
    for (const entry of template) {
      const filled = fillWith(parse, entry, scope);
      if (!filled.ok) return filled;
      list.push(filled.value);
    }
    return { ok: true, value: list };
  }
  if (!isObject(template)) return { ok: true, value: template as Json };

  const entries: [string, Json][] = [];
  for (const [key, entry] of Object.entries(template)) {
    const filled = fillWith(parse, entry as Template, scope);
    if (!filled.ok) return filled;
    entries.push([key, filled.value]);
  }
  return { ok: true, value: Object.fromEntries(entries) };
}

/** Returns the parts of a scope that a template reads, except the output of one step, which is known later. */
export function partRead(template: Template, scope: Scope, without: string): Partial<Pick<Scope, 'steps' | 'vars' | 'each' | 'fault'>> {
  const parsed = [...expressionsIn(template)].flatMap(({ text }) => parseExpression(text));
  const read = parsed.flatMap((each) => (each.ok ? [each.expression] : []));
  const part = (of: 'steps' | 'vars' | 'each') => {
    const names = new Set(read.flatMap((expression) => expression[of].map(({ name }) => name)));
    const there = Object.entries(scope[of] ?? {}).filter(([name]) => names.has(name) && !(of === 'steps' && name === without));
    return there.length > 0 ? { [of]: Object.fromEntries(there) } : {};
  };
  const fault = scope.fault !== undefined && read.some((each) => each.fault !== undefined) ? { fault: scope.fault } : {};
  return { ...part('steps'), ...part('vars'), ...part('each'), ...fault };
}

export const isCel = (template: unknown): template is { readonly $cel: string } =>
  isObject(template) && typeof template['$cel'] === 'string' && Object.keys(template).length === 1;

const stepsRead = (template: Template): string[] =>
  [...expressionsIn(template)].flatMap(({ text }) => {
    const parsed = parseExpression(text);
    return parsed.ok ? parsed.expression.steps.map(({ name }) => name) : [];
  });
