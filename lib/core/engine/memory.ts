import { behaviorOf, runsAgain } from '#core/activities/index';
import type { KeptSignal, State, Variables } from '#core/data/state';
import type { Activity } from '#core/definition/definition';
import { assignedIn, definitionPath, nodeAt, type Program, parentOf, relocated } from '#core/definition/program';
import type { Closing, StepMemo } from './behavior.ts';

/**
 * What a state remembers beside its activities: outputs that somebody will read, what earlier runs inside a retry have
 * come to, variables, and signals that came early. Each function returns the state with more or less of it; the very
 * same one where nothing changes.
 */
export function withOutput(program: Program, state: State, path: string, closing: Closing): State {
  if (closing.result !== 'Succeeded') return state;
  const { output = closing.collected } = closing;
  const isRead = program.readOutputs.get(path.slice(path.lastIndexOf('/') + 1)) === definitionPath(path);
  return output !== undefined && isRead ? { ...state, outputs: { ...state.outputs, [path]: output } } : state;
}

/** Outputs whose last reader was the activity at this path: in the journal they stay. */
export function withoutReadOutputs(program: Program, state: State, path: string): State {
  const over = program.lastRead.get(definitionPath(path));
  if (!over) return state;
  const gone = new Set(over.map((each) => relocated(each, path)));
  return withOutputsWhere(state, (each) => !gone.has(each));
}

/** Nobody outside of a turn can read what its steps answered; nor can the next run of a retry. */
export const withoutOutputsIn = (state: State, within: string): State => withOutputsWhere(state, (each) => !each.startsWith(within));

function withOutputsWhere(state: State, isKept: (path: string) => boolean): State {
  const all = Object.entries(state.outputs);
  const kept = all.filter(([path]) => isKept(path));
  return kept.length < all.length ? { ...state, outputs: Object.fromEntries(kept) } : state;
}

/** Only a retry that is at work, or an activity of an app's own like it, will run the step again. */
export const withMemo = (program: Program, state: State, path: string, memo: StepMemo): State =>
  isRetried(program, state, path) ? { ...state, memos: { ...state.memos, [path]: memo } } : state;

/** Without what was known of the steps of a retry that is over; another one around it may still need it. */
export function withoutMemo(program: Program, state: State, path: string): State {
  if (!state.memos || isRetried(program, state, path)) return state;
  const { memos: memo, ...others } = state;
  const rest = Object.entries(memo).filter(([each]) => !isInside(each, path));
  return rest.length > 0 ? { ...others, memos: Object.fromEntries(rest) } : others;
}

/** What cleans up does so after every run, however often it did before; but what has an undo was done once, and is undone once. */
export function doneNoMore(program: Program, state: State, path: string): State {
  return Object.entries(state.memos ?? {})
    .filter(([each, { outcome }]) => outcome === 'done' && (each === path || isInside(each, path)))
    .filter(([each]) => nodeAt(program, each).undo === undefined)
    .reduce((next, [each, memo]) => withMemo(program, next, each, { ...memo, outcome: 'undone' }), state);
}

export function isRetried(program: Program, { activities }: State, path: string): boolean {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) if (activities[at] && runsAgain(nodeAt(program, at))) return true;
  return false;
}

/** Each run of a retry begins as the first did: with its variables, and without what an earlier one answered (WF). */
export function restarted(program: Program, state: State, path: string): State {
  const { vars } = state.activities[path] ?? {};
  if (!vars) return withoutOutputsIn(state, `${path}/`);
  const assigned = new Set(assignedInside(nodeAt(program, path)));
  const others = Object.entries(state.vars ?? {}).filter(([variable]) => !assigned.has(variable));
  return withoutOutputsIn({ ...state, vars: Object.fromEntries([...others, ...Object.entries(vars)]) }, `${path}/`);
}

/** What each run is to begin with: no variable that is set elsewhere meanwhile. */
export function variablesOf({ vars = {} }: State, node: Activity): Variables | undefined {
  const assigned = assignedInside(node);
  if (assigned.length === 0) return undefined;
  return Object.fromEntries(Object.entries(vars).filter(([variable]) => assigned.includes(variable)));
}

const assignedInside = (node: Activity): readonly string[] => behaviorOf(node.activity).children(node).flatMap(assignedIn);

const isInside = (path: string, around: string): boolean => path.startsWith(`${around}/`) || path.startsWith(`${around}[`);

export const withSignal = (state: State, signal: KeptSignal): State => ({ ...state, signals: [...(state.signals ?? []), signal] });

export function withoutSignal({ signals = [], ...state }: State, signal: KeptSignal): State {
  const left = signals.filter((each) => each !== signal);
  return left.length > 0 ? { ...state, signals: left } : state;
}
