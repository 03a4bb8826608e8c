import type { Behaviour } from '../behaviour.ts';
import { type CustomActivity, registeredBehaviour, registeredTypes } from '../custom.ts';
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

/** The behaviour of every activity type. A new one is a file beside this, its name here and its shape below; one without the other does not compile. */
export const behaviours = {
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

export type ActivityType = keyof typeof behaviours | CustomActivity['activity'];
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
  Object.hasOwn(behaviours, type) || registeredBehaviour(type) !== undefined;

export const activityTypes = (): readonly string[] => [...Object.keys(behaviours), ...registeredTypes()];

/** The one place that forgets which activity a behaviour is for: the table's keys are the `activity` of its shapes. */
export function behaviourOf(type: ActivityType): Behaviour {
  const behaviour = Object.hasOwn(behaviours, type) ? behaviours[type as keyof typeof behaviours] : registeredBehaviour(type);
  if (!behaviour) throw new Error(`"${type}" is no activity.`);
  return behaviour as unknown as Behaviour;
}

/** Whether it may run what is inside it again at the same place, as a retry does: what that has done is kept meanwhile. */
export function runsAgain({ activity }: { readonly activity: ActivityType }): boolean {
  const { absorbs, reruns } = behaviourOf(activity);
  return absorbs !== undefined || reruns === true;
}
