import { behaviorOf, runsAgain } from '#core/activities/index';
import { definitionPath } from '#core/data/ids';
import type { Closing, KeptSignal, Outcome, State, Variables } from '#core/data/state';
import type { StepMemo } from '#core/data/step-state';
import type { Activity } from '#core/definition/definition';
import { assignedIn, nodeAt, type Program, parentOf, relocated } from '#core/definition/program';

/*
 * Functions over what a state holds besides its activities: outputs that will be read, memos of a retry, variables, and
 * kept signals. Each returns a changed state, or the very same one if nothing changes.
 */

/** Keeps the output of an activity if an expression reads it. */
export function withOutput(program: Program, state: State, path: string, closing: Closing): State {
  if (closing.result !== 'Succeeded') return state;
  const { output = closing.collected } = closing;
  const isRead = program.readOutputs.get(path.slice(path.lastIndexOf('/') + 1)) === definitionPath(path);
  return output !== undefined && isRead ? { ...state, outputs: { ...state.outputs, [path]: output } } : state;
}

/** Drops the outputs whose last reader was the activity at this path. The journal keeps them. */
export function withoutReadOutputs(program: Program, state: State, path: string): State {
  const over = program.lastRead.get(definitionPath(path));
  if (!over) return state;
  const gone = new Set(over.map((each) => relocated(each, path)));
  return withOutputsWhere(state, (each) => !gone.has(each));
}

/** Drops the outputs inside a turn, or inside one run of a retry. No activity outside can read them. */
export const withoutOutputsIn = (state: State, within: string): State => withOutputsWhere(state, (each) => !each.startsWith(within));

function withOutputsWhere(state: State, isKept: (path: string) => boolean): State {
  const all = Object.entries(state.outputs);
  const kept = all.filter(([path]) => isKept(path));
  return kept.length < all.length ? { ...state, outputs: Object.fromEntries(kept) } : state;
}

/** Stores the result of a step inside a running retry, or a custom activity like it: only those may run the step again. */
export const withMemo = (program: Program, state: State, path: string, memo: StepMemo): State =>
  isInRetry(program, state, path) ? { ...state, memos: { ...state.memos, [path]: memo } } : state;

/** Drops the memos inside a retry that is over, unless an enclosing retry may still need them. */
export function withoutMemo(program: Program, state: State, path: string): State {
  if (!state.memos || isInRetry(program, state, path)) return state;
  const { memos: memo, ...others } = state;
  const rest = Object.entries(memo).filter(([each]) => !isInside(each, path));
  return rest.length > 0 ? { ...others, memos: Object.fromEntries(rest) } : others;
}

/** Lets clean-up steps without an undo run again after every run of a retry. Those with an undo keep their memo: they are done once. */
export function withCleanUpRepeatable(program: Program, state: State, path: string): State {
  return Object.entries(state.memos ?? {})
    .filter(([each, { outcome }]) => outcome === 'done' && (each === path || isInside(each, path)))
    .filter(([each]) => nodeAt(program, each).undo === undefined)
    .reduce((next, [each, memo]) => withMemo(program, next, each, { ...memo, outcome: 'undone' }), state);
}

/** Whether an open activity around the path may run it again: a retry, or a custom activity like it. */
export function isInRetry(program: Program, { activities }: State, path: string): boolean {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) if (activities[at] && runsAgain(nodeAt(program, at))) return true;
  return false;
}

/** Resets the state for the next run of a retry: its variables as before the first run, and no outputs of earlier runs (WF). */
export function resetForNextRun(program: Program, state: State, path: string): State {
  const { vars } = state.activities[path] ?? {};
  if (!vars) return withoutOutputsIn(state, `${path}/`);
  const assigned = new Set(assignedInside(nodeAt(program, path)));
  const others = Object.entries(state.vars ?? {}).filter(([variable]) => !assigned.has(variable));
  return withoutOutputsIn({ ...state, vars: Object.fromEntries([...others, ...Object.entries(vars)]) }, `${path}/`);
}

/** Returns the present values of the variables that are set inside this activity. Variables that are set only elsewhere are left out. */
export function variablesOf({ vars = {} }: State, node: Activity): Variables | undefined {
  const assigned = assignedInside(node);
  if (assigned.length === 0) return undefined;
  return Object.fromEntries(Object.entries(vars).filter(([variable]) => assigned.includes(variable)));
}

const assignedInside = (node: Activity): readonly string[] => behaviorOf(node.activity).children(node).flatMap(assignedIn);

const isInside = (path: string, around: string): boolean => path.startsWith(`${around}/`) || path.startsWith(`${around}[`);

/** Drops the skip of a closed activity, and the input that a person gave it. The input stays while a retry may run the activity again. */
export function withoutInstruction(program: Program, state: State, path: string): State {
  const { skips, inputs, ...others } = state;
  if (skips?.[path] === undefined && (inputs?.[path] === undefined || isInRetry(program, state, path))) return state;
  const [skipsLeft, inputsLeft] = [without(skips, path), isInRetry(program, state, path) ? inputs : without(inputs, path)];
  return { ...others, ...(skipsLeft ? { skips: skipsLeft } : {}), ...(inputsLeft ? { inputs: inputsLeft } : {}) };
}

function without<T>(values: { readonly [path: string]: T } | undefined, path: string): { readonly [path: string]: T } | undefined {
  const left = Object.entries(values ?? {}).filter(([each]) => each !== path);
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

export const withSignal = (state: State, signal: KeptSignal): State => ({ ...state, signals: [...(state.signals ?? []), signal] });

export function withoutSignal({ signals = [], ...state }: State, signal: KeptSignal): State {
  const left = signals.filter((each) => each !== signal);
  return left.length > 0 ? { ...state, signals: left } : state;
}

/** Returns the state of an order that has closed. It keeps only what may still be read. */
export function closedWith(
  outcome: Outcome,
  { blocked: _, undo, pagedUndo, memos: __, ending, signals: ___, skips: ____, inputs: _____, recovering: ______, ...state }: State,
): State {
  // The caller may compensate this order later.
  const kept = state.called && outcome === 'completed' ? { ...(undo ? { undo } : {}), ...(pagedUndo ? { pagedUndo } : {}) } : {};
  const failure = ending?.fault ? { failure: ending.fault } : {};
  return { ...state, ...kept, ...failure, phase: 'closed', activities: {}, outcome };
}
