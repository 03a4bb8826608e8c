import { activityTypes, behaviorOf, isActivityType } from '#core/activities/index';
import { isObject } from '#core/data/json';
import { type Activity, type FaultHandler, isCustom, limits, rootPath } from '#core/definition/definition';
import { noChildren } from '#core/engine/behavior';
import { didYouMean } from './suggest.ts';

/** An activity with its place in the tree. */
export interface Placed {
  readonly node: Activity;
  readonly path: string;
  /** The use of the activity in the enclosing one. */
  readonly part: 'child' | 'handler' | 'undo';
  readonly around: Placed | undefined;
  readonly inside: readonly Placed[];
  /** Whether the fields of the activity match its type. If they do not, the activities inside it are not checked. */
  readonly isWellFormed: boolean;
}

export type Report = (path: string, message: string, severity?: 'error' | 'warning') => void;

/** Whether an activity may have inner activities besides its undo. */
export function isComposite({ node }: Pick<Placed, 'node'>): boolean {
  const { children } = behaviorOf(node.activity);
  // The children of a custom activity are known from its fields alone.
  return children !== noChildren && !(isCustom(node) && children(node).length === 0);
}

/** Checks the shape of a definition and returns its tree. A definition may be written by hand, so its parts may not match their types. */
export function treeOf(root: Activity, report: Report): Placed | undefined {
  return placed(root, { path: rootPath, part: 'child', around: undefined, depth: 1 }, report);
}

/** Yields an activity and everything inside it, in order. */
export function* everyIn(placed: Placed): Generator<Placed> {
  yield placed;
  for (const each of placed.inside) yield* everyIn(each);
}

/** Yields the enclosing activities, nearest first. */
export function* aroundOf({ around }: Pick<Placed, 'around'>): Generator<Placed> {
  for (let each = around; each; each = each.around) yield each;
}

/** Returns the forEach loops whose turns contain an activity, nearest first. */
export function loopsAround(placed: Placed): readonly Placed[] {
  const loops: Placed[] = [];
  let from = placed;
  for (const each of aroundOf(placed)) {
    if (each.node.activity === 'forEach' && from.part === 'child') loops.push(each);
    from = each;
  }
  return loops;
}

/** Returns the line of an expression that contains a position, with a caret below it. */
export function pointedAt(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const [line = ''] = text.slice(start).split('\n');
  return `  ${line}\n  ${' '.repeat(position - start)}^`;
}

interface Place {
  readonly path: string;
  readonly part: Placed['part'];
  readonly around: Placed | undefined;
  readonly depth: number;
}

function placed(node: Activity, { path, part, around, depth }: Place, report: Report): Placed | undefined {
  if (!isActivity(node, path, report)) return undefined;
  if (depth > limits.depthMax) {
    report(path, `This activity is more than ${limits.depthMax} levels deep. Split the workflow into several.`);
    return undefined;
  }
  const problems = problemsOf({ node, part, around });
  for (const problem of problems) report(path, problem);
  const inside: Placed[] = [];
  const here: Placed = { node, path, part, around, inside, isWellFormed: problems.length === 0 };
  if (!here.isWellFormed) return here;

  const names = new Set<string>();
  for (const { child, part } of partsOf(node)) {
    const childPath = `${path}/${child?.name}`;
    checkName(child?.name, childPath, part, report);
    if (names.has(childPath)) report(childPath, `Two activities have this path. Give one of them another name: .named('…').`);
    names.add(childPath);
    const found = placed(child, { path: childPath, part, around: here, depth: depth + 1 }, report);
    if (found) inside.push(found);
  }
  return here;
}

function isActivity(node: unknown, path: string, report: Report): boolean {
  const type = String((node as { activity?: unknown } | undefined | null)?.activity);
  if (isObject(node) && isActivityType(type)) return true;
  report(path, `Unknown activity type "${type}".${didYouMean(type, activityTypes())}`);
  return false;
}

type PlacedNode = Pick<Placed, 'node' | 'part' | 'around'>;

function problemsOf(here: PlacedNode): readonly string[] {
  const { node, part } = here;
  const handlers: unknown = node.faultHandlers;
  return [
    ...(behaviorOf(node.activity).problems?.(node) ?? []),
    ...(part === 'undo' && node.undo ? ['An undo cannot have an undo: it is repeated until it succeeds.'] : []),
    ...(node.undo === undefined || (isObject(node.undo) && node.undo['activity'] === 'step' && node.undo['name'] === 'undo')
      ? []
      : ['Its undo must be a step named "undo".']),
    ...(handlers === undefined || (Array.isArray(handlers) && handlers.every(isHandler))
      ? []
      : ['Its faultHandlers must be a list of {fault, do}.']),
    ...loopNameProblems(here),
    ...(handlers === undefined || isComposite(here)
      ? []
      : ['Only an activity with inner activities can have fault handlers. Put it into a scope.']),
  ];
}

function loopNameProblems(here: PlacedNode): readonly string[] {
  if (here.node.activity !== 'forEach') return [];
  const same = [...aroundOf(here)].find(({ node }) => node.activity === 'forEach' && node.name === here.node.name);
  return same
    ? [
        `The forEach around it (${same.path}) has the same name, so their entries cannot be told apart. Give one of the two loops another name: .named('…').`,
      ]
    : [];
}

const isHandler = (handler: unknown): handler is FaultHandler =>
  isObject(handler) && typeof handler['fault'] === 'string' && handler['fault'] !== '';

function partsOf(node: Activity): readonly { readonly child: Activity; readonly part: Placed['part'] }[] {
  const children = behaviorOf(node.activity).children(node);
  const handlers = node.faultHandlers ?? [];
  return [
    ...children.map((child) => ({ child, part: 'child' as const })),
    ...handlers.map((handler) => ({ child: handler.do, part: 'handler' as const })),
    ...(node.undo ? [{ child: node.undo, part: 'undo' as const }] : []),
  ];
}

function checkName(name: unknown, path: string, part: Placed['part'], report: Report): void {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    report(path, `"${name}" is not a valid activity name. Use at most 64 letters, digits, "-" and "_", and begin with a letter.`);
  else if (name === 'undo' && part !== 'undo') report(path, 'The name "undo" is reserved for the undo of a step. Choose another name.');
}
