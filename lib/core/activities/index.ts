import type { ActivityState } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
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

/**
 * The behavior of every activity type. A new type needs a file in this folder, its name here and its shape below. The
 * compiler reports each of these that is missing.
 */
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

/** Whether an activity type exists, built in or defined by the app. */
export const isActivityType = (type: string): type is ActivityType =>
  Object.hasOwn(behaviors, type) || registeredBehavior(type) !== undefined;

export const activityTypes = (): readonly string[] => [...Object.keys(behaviors), ...registeredTypes()];

/** Returns the behavior of an activity type. The cast is safe, because the table holds each behavior under the `activity` of its own shape. */
export function behaviorOf(type: ActivityType): Behavior {
  const behavior = Object.hasOwn(behaviors, type) ? behaviors[type as keyof typeof behaviors] : registeredBehavior(type);
  if (!behavior) throw new Error(`Unknown activity type "${type}".`);
  return behavior as unknown as Behavior;
}

/** The local state of an activity, as its behavior declares it. The state of a custom activity is unknown here. */
type LocalOf<A extends ActivityOf> = A['activity'] extends keyof typeof behaviors
  ? (typeof behaviors)[A['activity']] extends Behavior<never, infer S>
    ? S
    : never
  : unknown;

/**
 * Returns the local state of an activity. Undefined if the activity failed before it could start, and for a compensating root. The cast is
 * safe for a state that the behavior of the node wrote. While an activity `resumes` elsewhere, its state is one of the engine, without the
 * fields of the behavior.
 */
export const localOf = <A extends ActivityOf>(_node: A, activity: ActivityState | undefined): LocalOf<A> | undefined =>
  activity?.status === 'Compensating' ? undefined : (activity?.local as LocalOf<A> | undefined);

/** Returns the local state of a step or a call; undefined for any other activity. */
export const stepOf = (node: ActivityOf, activity: ActivityState | undefined): StepState | undefined =>
  node.activity === 'step' || node.activity === 'call' ? localOf(node, activity) : undefined;

/** Whether expressions can read the output of an activity as `steps.<name>`. */
export function answersLater(node: ActivityOf): boolean {
  const { answers = false } = behaviorOf(node.activity);
  return typeof answers === 'function' ? answers(node) : answers;
}

/** Whether an activity may run its child again at the same path, as a retry does. Memos keep the results of the child's steps meanwhile. */
export function runsAgain({ activity }: { readonly activity: ActivityType }): boolean {
  const { retries, reruns } = behaviorOf(activity);
  return retries !== undefined || reruns === true;
}
