import type { State } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { type Program, parentOf, stepAt } from '#core/definition/program';

/** Returns the invariants that a state violates: one sentence each, with the path. */
export function violations(program: Program, state: State): readonly string[] {
  return [...phaseViolations(state), ...activityViolations(program, state)];
}

function* phaseViolations(state: State): Generator<string> {
  const open = Object.keys(state.activities).length;
  if ((state.phase === 'blocked') !== (state.blocked !== undefined))
    yield `phase ${state.phase}, but "blocked" is ${state.blocked ? 'set' : 'not set'}`;
  if ((state.phase === 'suspended') !== (state.suspendedAt !== undefined))
    yield `phase ${state.phase}, but the time of its suspension is ${state.suspendedAt === undefined ? 'not set' : 'set'}`;
  if (state.phase === 'closed' && open > 0) yield `closed, but ${open} activities are open`;
  if (state.phase === 'initialized' && open > 0) yield `not started, but ${open} activities are open`;
  if (state.phase === 'running' && open === 0) yield 'running, but no activity is open';
}

function* activityViolations(program: Program, state: State): Generator<string> {
  for (const [path, activity] of Object.entries(state.activities)) {
    const parent = activity.parent ?? parentOf(path);
    if (parent !== undefined && !state.activities[parent]) yield `${path} is open, but ${parent}, which waits for it, is not`;
    if (activity.reply && state.phase !== 'blocked' && state.phase !== 'suspended')
      yield `${path} keeps a reply, but the order is neither blocked nor suspended`;
    if (activity.marked && state.phase !== 'suspended') yield `${path} keeps a mark, but the order is not suspended`;
    if (activity.awaitsPerson && state.phase !== 'blocked') yield `${path} has a fault for a person, but the order is not blocked`;
    if (activity.status === 'Faulting' && !activity.fault) yield `${path} is Faulting, but without a fault`;
    const step = stepAt(program, state, path);
    if (activity.status === 'Faulting' && step && state.phase === 'running')
      yield `${path} is Faulting, but the order is neither blocked nor closing`;
    if (step) yield* stepViolations(path, step);
  }
}

function* stepViolations(path: string, { generation, attempt, completeBy }: StepState): Generator<string> {
  if (generation < 1 || attempt < 0) yield `${path} has generation ${generation} and attempt ${attempt}`;
  if (!Number.isFinite(completeBy)) yield `${path} has no time by which it must be complete`;
}
