import { answersLater, behaviorOf, runsAgain } from '#core/activities/index';
import { isUndoPath } from '#core/data/ids';
import type { Activity } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { expressionsIn, isOfOutput, type Program, parentOf } from '#core/definition/program';
import { isAt } from '#core/engine/undo-pages';
import { closureOf, type Edges, remembered } from './closure.ts';

/**
 * The activities that depend on one activity, by their paths, in the order of the definition. Undos are left out: an undo belongs to its
 * activity. Source: requirements.md F-146 to F-148.
 */
export interface Dependents {
  /** They read the output of the activity or the variable that it sets, or the output or variable of such a reader. */
  readonly data: readonly string[];
  /** They are inside the activity, after it in a sequence, or in a handler of its faults. */
  readonly control: readonly string[];
  /** The affected scope: the closure over both kinds. It begins with the activity itself. */
  readonly scope: readonly string[];
}

/** Returns what depends on the activity at a path of the definition. An unknown path has no dependents. */
export function dependentsOf(program: Program, path: string): Dependents {
  const { data, control } = edgesOf(program);
  const both: Edges = (at) => [...data(at), ...control(at)];
  const inOrder = (paths: ReadonlySet<string>): readonly string[] => [...program.nodes.keys()].filter((each) => paths.has(each));
  const without = (edges: Edges): readonly string[] => inOrder(closureOf(path, edges)).filter((each) => each !== path);
  const scope = program.nodes.has(path) ? [path, ...without(both)] : [];
  return { data: without(data), control: without(control), scope };
}

const known = new WeakMap<Program, { readonly data: Edges; readonly control: Edges }>();

function edgesOf(program: Program): { readonly data: Edges; readonly control: Edges } {
  const found = known.get(program);
  if (found) return found;
  const edges = { data: remembered(dataEdges(program)), control: remembered(controlEdges(program)) };
  known.set(program, edges);
  return edges;
}

/** The paths that read a value, by its name: `steps.charge`, `vars.total`, `each.items`. */
type Readers = ReadonlyMap<string, readonly string[]>;

function dataEdges(program: Program): Edges {
  const readers = readersIn(program);
  return (path) => {
    const node = program.nodes.get(path);
    if (!node) return [];
    const names = [...(answersLater(node) ? [`steps.${node.name}`] : []), ...(node.activity === 'assign' ? [`vars.${node.variable}`] : [])];
    // Two loops may have the same name if neither is inside the other: an entry is read inside its loop alone.
    const entries = node.activity === 'forEach' ? (readers.get(`each.${node.name}`) ?? []).filter((each) => isAt(each, path)) : [];
    const values = names.flatMap((name) => readers.get(name) ?? []).filter((each) => mayFollow(program, each, path));
    return [...values, ...entries].filter((each) => each !== path);
  };
}

function readersIn({ nodes }: Program): Readers {
  const readers = new Map<string, string[]>();
  for (const [path, node] of nodes) {
    if (isUndoPath(path)) continue;
    for (const name of readBy(node)) readers.set(name, [...(readers.get(name) ?? []), path]);
  }
  return readers;
}

/** Returns the names of the values that an activity reads itself. The condition about its own output does not count. */
function readBy(node: Activity): ReadonlySet<string> {
  const templates = behaviorOf(node.activity)
    .templates(node)
    .filter((template) => !isOfOutput(node, template));
  const expressions = templates.flatMap((template) =>
    [...expressionsIn(template)].flatMap(({ text }) => {
      const parsed = parseExpression(text);
      return parsed.ok ? [parsed.expression] : [];
    }),
  );
  return new Set(
    expressions.flatMap((each) => (['steps', 'vars', 'each'] as const).flatMap((root) => each[root].map(({ name }) => `${root}.${name}`))),
  );
}

/** Whether an activity may run after another one: in the order of the nearest composite around both, or because something repeats both. */
function mayFollow({ nodes }: Program, path: string, earlier: string): boolean {
  const [mine, other] = [path.split('/'), earlier.split('/')];
  const shared = mine.findIndex((name, index) => name !== other[index]);
  const [name, before] = [mine[shared], other[shared]];
  if (name === undefined || before === undefined) return true;
  const around = mine.slice(0, shared).map((_, index) => nodes.get(mine.slice(0, index + 1).join('/')));
  const nearest = around.at(-1);
  return nearest === undefined || isLater(nearest, name, before) || around.some(repeats);
}

/** Whether one part of a composite may start after another part of it. */
function isLater(around: Activity, name: string, before: string): boolean {
  const children = behaviorOf(around.activity)
    .children(around)
    .map((child) => child.name);
  const [at, from] = [children.indexOf(name), children.indexOf(before)];
  // A handler runs after the children, and never after another handler of the same composite.
  if (from < 0 || at < 0) return from >= 0;
  if (around.activity === 'choice') return false;
  return around.activity !== 'sequence' || at > from;
}

const repeats = (node: Activity | undefined): boolean =>
  node !== undefined && (behaviorOf(node.activity).repeats === true || runsAgain(node));

function controlEdges({ nodes }: Program): Edges {
  const paths = [...nodes.keys()].filter((path) => !isUndoPath(path));
  const within = (root: string): readonly string[] => paths.filter((each) => isAt(each, root));
  return (path) => {
    if (!nodes.has(path)) return [];
    const next: string[] = within(path).filter((each) => each !== path);
    for (let inside = path, around = parentOf(path); around !== undefined; inside = around, around = parentOf(around)) {
      const node = nodes.get(around);
      if (!node) continue;
      next.push(...startedAfter(node, inside, around).flatMap(within));
    }
    return next;
  };
}

/** Returns the paths of the siblings that start only after an activity: those after it in a sequence, and the handlers of its faults. */
function startedAfter(around: Activity, path: string, parent: string): readonly string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const handlers = (around.faultHandlers ?? []).map((handler) => handler.do.name);
  if (handlers.includes(name)) return [];
  const at = around.activity === 'sequence' ? around.children.findIndex((child) => child.name === name) : -1;
  const later = around.activity === 'sequence' && at >= 0 ? around.children.slice(at + 1).map((child) => child.name) : [];
  return [...later, ...handlers].map((each) => `${parent}/${each}`);
}
