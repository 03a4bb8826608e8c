import { localOf } from '#core/activities/index';
import type { ActivityState, State } from '#core/data/state';
import { awaitsReply, type StepState } from '#core/data/step-state';
import { nodeAt, type Program } from '#core/definition/program';
import type { TransitionBuilder } from './transition-builder.ts';

/** An open step that may become overdue. */
export interface WorkingStep {
  readonly path: string;
  readonly agent: string;
  readonly local: StepState;
  readonly activity: ActivityState;
}

/** Returns the open step at a path if its lateness counts. That of a call, an undo, a confirmation or a canceled step never counts. */
export function workingStepAt(program: Program, path: string, activity: ActivityState): WorkingStep | undefined {
  const node = nodeAt(program, path);
  if (node.activity !== 'step') return undefined;
  const local = localOf(node, activity);
  return local && local.mode === undefined ? { path, agent: node.agent, local, activity } : undefined;
}

/** Returns the steps whose lateness counts. */
export const workingSteps = (program: Program, { activities }: State): readonly WorkingStep[] =>
  Object.entries(activities).flatMap(([path, activity]) => workingStepAt(program, path, activity) ?? []);

/** Returns the highest late count of any working step. */
export const mostLate = (program: Program, state: State): number =>
  workingSteps(program, state).reduce((most, { activity: { late = 0 } }) => Math.max(most, late), 0);

/** Counts a step as late, with every other step of the same deadline. Without a path, counts all working steps. */
export function countLate(builder: TransitionBuilder, path: string | undefined, waitsUntil: number | undefined): void {
  const steps = workingSteps(builder.program, builder.state).filter(({ activity }) => !activity.awaitsPerson);
  const named = steps.find((step) => step.path === path);
  const late = path === undefined ? steps : steps.filter(({ local }) => local.completeBy === named?.local.completeBy);
  for (const { path: each, activity } of late)
    builder.patch(each, { late: (activity.late ?? 0) + 1, ...(waitsUntil === undefined ? {} : { waitsUntil }) });
}

/** Resets all late counts and pauses, because a person or a rule has decided. An activity that has failed is due at once. */
export function forgetLate(builder: TransitionBuilder): void {
  for (const [path, activity] of Object.entries(builder.state.activities)) {
    const { late, waitsUntil, ...rest } = activity;
    if (late === undefined && waitsUntil === undefined) continue;
    const step = builder.stepAt(path);
    const hasFailed = waitsUntil !== undefined && !(step && awaitsReply(step));
    builder.put(path, hasFailed ? { ...rest, waitsUntil: Math.min(waitsUntil, builder.event.at) } : rest);
  }
}

/** Ends the pause of an activity that runs again, or that a person must decide about. Its late count stays. */
export function endWait(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (activity?.waitsUntil === undefined) return;
  const { waitsUntil: _, ...rest } = activity;
  builder.put(path, rest);
}
