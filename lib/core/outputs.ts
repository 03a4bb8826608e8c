import type { Retry } from './activities/retry.ts';
import type { Json } from './json.ts';
import { assignedIn, definitionPath, type Program, relocated } from './program.ts';
import type { State, Variables } from './state.ts';

/** Outputs and variables, as long as somebody may read them; in the journal they stay. Each function gives the next state. */

export function withOutput(program: Program, state: State, path: string, output: Json | undefined): State {
  const isRead = program.readOutputs.get(path.slice(path.lastIndexOf('/') + 1)) === definitionPath(path);
  return output !== undefined && isRead ? { ...state, outputs: { ...state.outputs, [path]: output } } : state;
}

/** Outputs whose last reader this was are not kept any more. */
export function withoutReadBy(program: Program, state: State, path: string): State {
  const over = program.lastRead.get(definitionPath(path));
  if (!over) return state;
  const gone = new Set(over.map((each) => relocated(each, path)));
  return without(state, (each) => gone.has(each));
}

/** Nobody outside of a turn can read what its steps answered; nor can the next run of a retry. */
export const withoutOutputsIn = (state: State, within: string): State => without(state, (each) => each.startsWith(within));

function without(state: State, isGone: (path: string) => boolean): State {
  const kept = Object.entries(state.outputs).filter(([path]) => !isGone(path));
  return kept.length < Object.keys(state.outputs).length ? { ...state, outputs: Object.fromEntries(kept) } : state;
}

/** What was known of the steps of a retry that is over. */
export function withoutKnownIn(state: State, path: string): State {
  if (!state.known) return state;
  const { known, ...others } = state;
  const rest = Object.entries(known).filter(([each]) => !each.startsWith(`${path}/`));
  return rest.length > 0 ? { ...others, known: Object.fromEntries(rest) } : others;
}

/** What a retry has to restore: no variable that is set elsewhere meanwhile. */
export function varsOf(retry: Retry, { vars = {} }: State): Variables | undefined {
  const assigned = assignedIn(retry.do);
  if (assigned.length === 0) return undefined;
  return Object.fromEntries(Object.entries(vars).filter(([variable]) => assigned.includes(variable)));
}

/** Each run of a retry begins as the first did: with its variables, and without what an earlier one answered (WF). */
export function restarted(retry: Retry, state: State, path: string, before: Variables | undefined): State {
  const fresh = withoutOutputsIn(state, `${path}/`);
  if (!before) return fresh;
  const assigned = new Set(assignedIn(retry.do));
  const others = Object.entries(state.vars ?? {}).filter(([variable]) => !assigned.has(variable));
  return { ...fresh, vars: Object.fromEntries([...others, ...Object.entries(before)]) };
}
