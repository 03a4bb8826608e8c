import type { StepState } from '#core/activities/step';
import type { ActivityState, State } from '#core/data/state';
import { nodeAt, type Program } from '#core/definition/program';
import type { TransitionBuilder } from './transition-builder.ts';

/** A step that is at work for the workflow, and may be late. */
export interface WorkingStep {
  readonly path: string;
  readonly local: StepState;
  readonly activity: ActivityState;
}

/** Steps that count as late when their time passes. An undo, and a step that was canceled, have a time of their own: it is never counted. */
export function workingSteps(program: Program, { activities }: State): readonly WorkingStep[] {
  return Object.entries(activities).flatMap(([path, activity]) => {
    const local = activity.local as StepState | undefined;
    if (nodeAt(program, path).activity !== 'step' || local === undefined || local.mode !== undefined) return [];
    return [{ path, local, activity }];
  });
}

/** The highest count of a step that is still at work. */
export const mostLate = (program: Program, state: State): number =>
  workingSteps(program, state).reduce((most, { activity: { late = 0 } }) => Math.max(most, late), 0);

/** Steps that were requested in the same instant are late together. */
export function countLate(builder: TransitionBuilder, path: string | undefined, waitsUntil: number | undefined): void {
  const steps = workingSteps(builder.program, builder.state).filter(({ activity }) => !activity.awaitsPerson);
  const named = steps.find((step) => step.path === path);
  const late = path === undefined ? steps : steps.filter(({ local }) => local.completeBy === named?.local.completeBy);
  for (const { path: each, activity } of late)
    builder.patch(each, { late: (activity.late ?? 0) + 1, ...(waitsUntil === undefined ? {} : { waitsUntil }) });
}

/** A person has decided: what was late before does not count any more. */
export function forgetLate(builder: TransitionBuilder): void {
  for (const [path, activity] of Object.entries(builder.state.activities)) {
    const { late, waitsUntil, ...rest } = activity;
    if (late !== undefined || waitsUntil !== undefined) builder.put(path, rest);
  }
}

/** It is requested again: its long wait is over, and its count stays. */
export function endWait(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (activity?.waitsUntil === undefined) return;
  const { waitsUntil: _, ...rest } = activity;
  builder.put(path, rest);
}
