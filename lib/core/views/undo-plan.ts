import { behaviorOf, stepOf } from '#core/activities/index';
import { definitionPath, undoPathOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { ActivityState, State, UndoEntry } from '#core/data/state';
import { isRemote, rootPath } from '#core/definition/definition';
import type { Evaluation } from '#core/definition/expression';
import { fill, nodeAt, type Program, parentOf, scopeOf } from '#core/definition/program';
import { isDefiniteRefusal } from '#core/engine/step-replies';
import type { Subject } from '#core/engine/transition';
import { isAt, isWithin, undoneScope } from '#core/engine/undo-pages';

/** One step that would be undone. */
export interface PlannedUndo {
  /** The path of the step. Its undo has the same path with `/undo`. */
  readonly path: string;
  readonly agent: string;
  readonly operation: string;
  /** The input of the undo. Null if the outcome is unknown, because the input depends on the step's output. */
  readonly input: Json;
  /** Whether the outcome must be confirmed first. The step is undone only if it was done. */
  readonly outcomeUnknown: boolean;
  /**
   * The reason why the undo cannot be requested: its input could not be evaluated. Such an undo waits for a person, and `input` is null.
   */
  readonly impossible?: string;
}

export interface UndoPlan {
  /** The path of the composite whose work is undone. */
  readonly scope: string;
  /** The steps in the order in which they would be undone. Undos that already run come first. */
  readonly steps: readonly PlannedUndo[];
  /** Completed steps that stay, because they have no undo. */
  readonly withoutUndo: readonly { readonly path: string; readonly agent: string; readonly operation: string }[];
}

/** Returns what an undo of a scope would do now. `done`: the paths of steps that the journal shows as completed and not undone. */
export function undoPlan(program: Program, subject: Subject, state: State, scope: string, done: readonly string[]): UndoPlan {
  const inScope = (path: string): boolean => isAt(path, scope) || isAt(definitionPath(path), scope);
  const ofOpenSteps = new Map(
    Object.entries(state.activities).flatMap(([path, activity]) => undoOfOpen(program, subject, state, path, activity)),
  );
  const noted = inTheirOrder(state).filter(({ path }) => !ofOpenSteps.has(path));
  const open = [...ofOpenSteps.values()].filter((each) => each !== undefined);
  // Known effects are undone at once, unknown ones after their reply.
  const first = [...open.filter((each) => !each.outcomeUnknown), ...open.filter((each) => each.outcomeUnknown)];
  const planned = [...first, ...noted.flatMap((entry) => undoOf(program, entry))];
  const wholes = (state.undo ?? []).flatMap(({ path }) => (isRemote(nodeAt(program, path)) ? [] : [path]));
  return {
    scope,
    steps: planned.filter(({ path }) => inScope(path)),
    withoutUndo: done.flatMap((path) => {
      const node = nodeAt(program, path);
      const stays = isRemote(node) && !node.undo && inScope(path) && !wholes.some((whole) => isWithin(path, whole));
      return stays ? [{ path, agent: node.agent, operation: node.operation }] : [];
    }),
  };
}

/** Returns the path of a composite, given by path or name; undefined if none or several match. */
export function scopeNamed({ nodes }: Program, text: string): string | undefined {
  const isComposite = (path: string): boolean => {
    const node = nodes.get(definitionPath(path));
    return node !== undefined && (path === rootPath || behaviorOf(node.activity).children(node).length > 0);
  };
  if (isComposite(text)) return text;
  const [only, ...others] = [...nodes].flatMap(([path, { name }]) => (name === text && isComposite(path) ? [path] : []));
  return others.length === 0 ? only : undefined;
}

/** Returns the entries newest first, except that the entries of scopes that are being undone come before all others. */
function inTheirOrder({ undo = [], activities }: State): readonly UndoEntry[] {
  const newestFirst = undo.toReversed();
  const first = Object.entries(activities).flatMap(([at, activity]) => {
    const scope = undoneScope(activity);
    const handler = handlerAround(activities, at);
    return scope === undefined
      ? []
      : newestFirst.filter(({ path }) => isAt(path, scope) && !(handler && isWithin(handler, scope) && isAt(path, handler)));
  });
  return [...new Set([...first, ...newestFirst])];
}

function handlerAround(activities: State['activities'], at: string): string | undefined {
  for (let path = at, around = parentOf(path); around !== undefined; path = around, around = parentOf(path))
    if (activities[around]?.handling) return path;
  return undefined;
}

const undoOf = (program: Program, { path, input, fault }: UndoEntry): readonly PlannedUndo[] => {
  const { undo } = nodeAt(program, path);
  if (!undo) return [];
  const { agent, operation } = undo;
  if (input === undefined && !fault) return [{ path, agent, operation, input: null, outcomeUnknown: true }];
  return [
    { path, agent, operation, outcomeUnknown: false, ...inputFrom(fault ? { ok: false, fault } : { ok: true, value: input ?? null }) },
  ];
};

const inputFrom = (found: Evaluation): Pick<PlannedUndo, 'input' | 'impossible'> =>
  found.ok ? { input: found.value } : { input: null, impossible: found.fault.message };

/** Returns the undo of an open step by the step's path. The undo is undefined if the step is known not to be done. */
function undoOfOpen(
  program: Program,
  subject: Subject,
  state: State,
  path: string,
  activity: ActivityState,
): readonly (readonly [string, PlannedUndo | undefined])[] {
  const node = nodeAt(program, path);
  const step = stepOf(node, activity);
  const { reply } = activity;
  if (!step || step.phase === 'undoing') return [];
  if (step.mode === 'undo') {
    const entry = state.undo?.find((each) => undoPathOf(each.path) === path);
    return entry ? undoOf(program, entry).map((planned) => [entry.path, activity.marked ? undefined : planned] as const) : [];
  }
  if (!node.undo || step.attempt === 0) return [];
  const { agent, operation } = node.undo;
  if (step.mode === undefined && reply?.status === 'succeeded') {
    const scope = scopeOf(program, subject, state, path);
    const input = fill(node.undo.input, { ...scope, steps: { ...scope.steps, [node.name]: reply.output } });
    return [[path, { path, agent, operation, outcomeUnknown: false, ...inputFrom(input) }]];
  }
  const refused =
    activity.marked || (step.mode === undefined && (step.phase === 'refused' || (reply !== undefined && isDefiniteRefusal(reply))));
  return [[path, refused ? undefined : { path, agent, operation, input: null, outcomeUnknown: true }]];
}
