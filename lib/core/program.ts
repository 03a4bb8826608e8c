import { type ActivityType, behaviourOf } from './activities/index.ts';
import type { Activity, Template, WorkflowDefinition } from './definition.ts';
import { rootPath } from './definition.ts';
import { type Evaluation, parseExpression, type Scope } from './expression.ts';
import { engineFault, engineFaults } from './fault.ts';
import { isObject, type Json } from './json.ts';
import type { State } from './state.ts';

/** A definition, prepared once: its nodes by path, and which steps' outputs are read by somebody. */
export interface Program {
  readonly definition: WorkflowDefinition;
  /** Path of every node in the order of the definition; loops show no index. */
  readonly nodes: ReadonlyMap<string, Activity>;
  /** Paths of the steps whose output an expression reads, by the name under which it is read. */
  readonly readOutputs: ReadonlyMap<string, string>;
}

const programs = new WeakMap<WorkflowDefinition, Program>();

export function programOf(definition: WorkflowDefinition): Program {
  const known = programs.get(definition);
  if (known) return known;

  const nodes = new Map<string, Activity>();
  const reads = new Set<string>();
  const visit = (node: Activity, path: string): void => {
    nodes.set(path, node);
    const behaviour = behaviourOf(node.activity);
    for (const template of behaviour.templates(node)) for (const name of stepsRead(template)) reads.add(name);
    for (const child of behaviour.children(node)) visit(child, `${path}/${child.name}`);
  };
  visit(definition.root, rootPath);

  const readOutputs = new Map<string, string>();
  for (const [path, node] of nodes) if (node.activity === 'step' && reads.has(node.name)) readOutputs.set(node.name, path);
  const program = { definition, nodes, readOutputs };
  programs.set(definition, program);
  return program;
}

/** The node at a path of an instance, in which loops have an index: `order/items[3]/pack`. */
export const nodeAt = (program: Program, path: string): Activity => {
  const node = program.nodes.get(path.includes('[') ? path.replace(/\[\d+\]/g, '') : path);
  if (!node) throw new Error(`The workflow ${program.definition.name} has no activity at ${path}.`);
  return node;
};

export const behaviourAt = (program: Program, path: string) => behaviourOf(nodeAt(program, path).activity as ActivityType);

/** The path of the activity around another; undefined for the root. */
export const parentOf = (path: string): string | undefined => {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? undefined : path.slice(0, slash).replace(/\[\d+\]$/, '');
};

/** Every expression in a template, with its JSON pointer. */
export function* expressionsIn(template: Template, pointer = ''): Generator<{ text: string; pointer: string }> {
  if (isCel(template)) yield { text: template.$cel, pointer };
  else if (Array.isArray(template)) for (const [index, entry] of template.entries()) yield* expressionsIn(entry, `${pointer}/${index}`);
  else if (isObject(template))
    for (const [key, entry] of Object.entries(template))
      yield* expressionsIn(entry as Template, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** What the expressions of an instance may read: its order, and the outputs that are kept because one of them reads them. */
export function scopeOf(
  program: Program,
  { orderId, order }: { readonly orderId: string; readonly order: Json },
  { outputs }: Pick<State, 'outputs'>,
): Scope {
  const steps: { [name: string]: Json } = {};
  for (const [name, path] of program.readOutputs) {
    const output = outputs[path];
    if (output !== undefined) steps[name] = output;
  }
  return { orderId, order, steps };
}

/** Fills a template: each expression replaced by what it yields. */
export function fill(template: Template, scope: Scope): Evaluation {
  if (isCel(template)) {
    const parsed = parseExpression(template.$cel);
    if (parsed.ok) return parsed.expression.evaluate(scope);
    return { ok: false, fault: engineFault(engineFaults.expressionFailed, `${template.$cel}: ${parsed.message}`) };
  }
  if (Array.isArray(template)) {
    const list: Json[] = [];
    for (const entry of template) {
      const filled = fill(entry, scope);
      if (!filled.ok) return filled;
      list.push(filled.value);
    }
    return { ok: true, value: list };
  }
  if (!isObject(template)) return { ok: true, value: template as Json };

  const entries: [string, Json][] = [];
  for (const [key, entry] of Object.entries(template)) {
    const filled = fill(entry as Template, scope);
    if (!filled.ok) return filled;
    entries.push([key, filled.value]);
  }
  return { ok: true, value: Object.fromEntries(entries) };
}

const isCel = (template: unknown): template is { readonly $cel: string } =>
  isObject(template) && typeof template['$cel'] === 'string' && Object.keys(template).length === 1;

const stepsRead = (template: Template): string[] =>
  [...expressionsIn(template)].flatMap(({ text }) => {
    const parsed = parseExpression(text);
    return parsed.ok ? parsed.expression.steps.map(({ name }) => name) : [];
  });
