import { type CustomActivity, registeredBehavior, registeredTypes } from '#core/definition/custom';
import type { Behavior } from '#core/engine/behavior';
import { type AskOperator, askOperator } from './ask-operator.ts';
import { type Assign, assign } from './assign.ts';
import { type Call, call } from './call.ts';
import { type Choice, choice } from './choice.ts';
import { type Compensate, compensate } from './compensate.ts';
import { type Compute, compute } from './compute.ts';
import { type Delay, delay } from './delay.ts';
import { type ForEach, forEach } from './for-each.ts';
import { type Parallel, parallel } from './parallel.ts';
import { type Raise, raise } from './raise.ts';
import { type Rethrow, rethrow } from './rethrow.ts';
import { type Retry, retry } from './retry.ts';
import { type ScopeActivity, scope } from './scope.ts';
import { type Sequence, sequence } from './sequence.ts';
import { type Step, step } from './step.ts';
import { type Terminate, terminate } from './terminate.ts';
import { type WaitFor, waitFor } from './wait-for.ts';
import { type While, whileLoop } from './while.ts';

/** The behavior of every activity type. A new one is a file beside this, its name here and its shape below; one without the other does not compile. */
export const behaviors = {
  askOperator,
  assign,
  call,
  choice,
  compensate,
  compute,
  delay,
  forEach,
  parallel,
  raise,
  rethrow,
  retry,
  scope,
  sequence,
  step,
  terminate,
  waitFor,
  while: whileLoop,
} satisfies Record<Exclude<ActivityOf, CustomActivity>['activity'], unknown>;

export type ActivityType = keyof typeof behaviors | CustomActivity['activity'];
export type ActivityOf =
  | AskOperator
  | Assign
  | Call
  | Choice
  | Compensate
  | Compute
  | CustomActivity
  | Delay
  | ForEach
  | Parallel
  | Raise
  | Rethrow
  | Retry
  | ScopeActivity
  | Sequence
  | Step
  | Terminate
  | WaitFor
  | While;

/** Whether there is such an activity, built in or defined by the app. */
export const isActivityType = (type: string): type is ActivityType =>
  Object.hasOwn(behaviors, type) || registeredBehavior(type) !== undefined;

export const activityTypes = (): readonly string[] => [...Object.keys(behaviors), ...registeredTypes()];

/** The one place that forgets which activity a behavior is for: the table's keys are the `activity` of its shapes. */
export function behaviorOf(type: ActivityType): Behavior {
  const behavior = Object.hasOwn(behaviors, type) ? behaviors[type as keyof typeof behaviors] : registeredBehavior(type);
  if (!behavior) throw new Error(`"${type}" is no activity.`);
  return behavior as unknown as Behavior;
}

/** Whether others may read what it closes with, as `steps.<name>`. */
export function answersLater(node: ActivityOf): boolean {
  const { answers = false } = behaviorOf(node.activity);
  return typeof answers === 'function' ? answers(node) : answers;
}

/** Whether it may run what is inside it again at the same place, as a retry does: what that has done is kept meanwhile. */
export function runsAgain({ activity }: { readonly activity: ActivityType }): boolean {
  const { retries: absorbs, reruns } = behaviorOf(activity);
  return absorbs !== undefined || reruns === true;
}
