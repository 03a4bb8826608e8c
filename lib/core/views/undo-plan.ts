import { behaviorOf } from '#core/activities/index';
import { isDefiniteRefusal, type StepState } from '#core/activities/step';
import type { Json } from '#core/data/json';
import type { ActivityState, State, UndoEntry } from '#core/data/state';
import { isRemote, rootPath } from '#core/definition/definition';
import type { Evaluation } from '#core/definition/expression';
import { definitionPath, fill, nodeAt, type Program, parentOf, scopeOf } from '#core/definition/program';
import type { Subject } from '#core/engine/transition-builder';
import { isAt, isWithin } from '#core/engine/undo-pages';

/** One step that would be undone. */
export interface PlannedUndo {
  /** Of what was done; its undo has `/undo` behind it. */
  readonly path: string;
  readonly agent: string;
  readonly operation: string;
  /** Null where the outcome is unknown: then it follows from what the step answers when that is found out. */
  readonly input: Json;
  /** Whether it was done is found out first; only if it was is it undone. */
  readonly outcomeUnknown: boolean;
  /** Why it can't be asked for: its input could not be evaluated. It waits until a person has seen to it; `input` is null. */
  readonly impossible?: string;
}

export interface UndoPlan {
  /** Path of the composite whose work it is about. */
  readonly scope: string;
  /** In the order in which they would be undone; those that are at work now first. */
  readonly steps: readonly PlannedUndo[];
  /** Completed, and to stay as they are: they have no undo. */
  readonly withoutUndo: readonly { readonly path: string; readonly agent: string; readonly operation: string }[];
}

/** What an undo of a scope would do now. `done`: paths of the steps that were completed and not undone, as the journal tells. */
export function undoPlan(program: Program, subject: Subject, state: State, scope: string, done: readonly string[]): UndoPlan {
  const inScope = (path: string): boolean => isAt(path, scope) || isAt(definitionPath(path), scope);
  const atWork = new Map(
    Object.entries(state.activities).flatMap(([path, activity]) => undoOfLive(program, subject, state, path, activity)),
  );
  const noted = inTheirOrder(state).filter(({ path }) => !atWork.has(path));
  const live = [...atWork.values()].filter((each) => each !== undefined);
  // What is known to be done is undone at once; the rest when its answer has come.
  const first = [...live.filter((each) => !each.outcomeUnknown), ...live.filter((each) => each.outcomeUnknown)];
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

/** The path of a composite that is meant by its path or its name; undefined where there is none, or several. */
export function scopeNamed({ nodes }: Program, text: string): string | undefined {
  const isComposite = (path: string): boolean => {
    const node = nodes.get(definitionPath(path));
    return node !== undefined && (path === rootPath || behaviorOf(node.activity).children(node).length > 0);
  };
  if (isComposite(text)) return text;
  const [only, ...others] = [...nodes].flatMap(([path, { name }]) => (name === text && isComposite(path) ? [path] : []));
  return others.length === 0 ? only : undefined;
}

/** Newest first; what somebody is undoing already goes before the rest. */
function inTheirOrder({ undo = [], activities }: State): readonly UndoEntry[] {
  const newestFirst = undo.toReversed();
  const first = Object.entries(activities).flatMap(([at, { local }]) => {
    const { scope } = (local ?? {}) as { readonly scope?: string };
    const handler = handlerAround(activities, at);
    return scope === undefined ? [] : newestFirst.filter(({ path }) => isAt(path, scope) && !(handler && isAt(path, handler)));
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

/** By the path of what it did or may have done; undefined where it is known that it did nothing. */
function undoOfLive(
  program: Program,
  subject: Subject,
  state: State,
  path: string,
  { local, reply }: ActivityState,
): readonly (readonly [string, PlannedUndo | undefined])[] {
  const node = nodeAt(program, path);
  const step = local as StepState | undefined;
  if (!isRemote(node) || !step || step.phase === 'undoing') return [];
  if (step.mode === 'undo') {
    const entry = state.undo?.find((each) => `${each.path}/undo` === path);
    return entry ? undoOf(program, entry).map((planned) => [entry.path, planned] as const) : [];
  }
  if (!node.undo || step.attempt === 0) return [];
  const { agent, operation } = node.undo;
  if (step.mode === undefined && reply?.status === 'succeeded') {
    const scope = scopeOf(program, subject, state, path);
    const input = fill(node.undo.input, { ...scope, steps: { ...scope.steps, [node.name]: reply.output } });
    return [[path, { path, agent, operation, outcomeUnknown: false, ...inputFrom(input) }]];
  }
  const refused = step.mode === undefined && (step.phase === 'refused' || (reply !== undefined && isDefiniteRefusal(reply)));
  return [[path, refused ? undefined : { path, agent, operation, input: null, outcomeUnknown: true }]];
}
