import type { Behaviour } from '../behaviour.ts';
import { type Assign, assign } from './assign.ts';
import { type Choice, choice } from './choice.ts';
import { type Compensate, compensate } from './compensate.ts';
import { type Delay, delay } from './delay.ts';
import { type ForEach, forEach } from './for-each.ts';
import { type Parallel, parallel } from './parallel.ts';
import { type Raise, raise } from './raise.ts';
import { type Retry, retry } from './retry.ts';
import { type ScopeActivity, scope } from './scope.ts';
import { type Sequence, sequence } from './sequence.ts';
import { type Step, step } from './step.ts';
import { type Terminate, terminate } from './terminate.ts';
import { type While, whileLoop } from './while.ts';

/** The behaviour of every activity type. A new one is a file beside this, its name here and its shape below; one without the other does not compile. */
export const behaviours = {
  assign,
  choice,
  compensate,
  delay,
  forEach,
  parallel,
  raise,
  retry,
  scope,
  sequence,
  step,
  terminate,
  while: whileLoop,
} satisfies Record<ActivityOf['activity'], unknown>;

export type ActivityType = keyof typeof behaviours;
export type ActivityOf =
  | Assign
  | Choice
  | Compensate
  | Delay
  | ForEach
  | Parallel
  | Raise
  | Retry
  | ScopeActivity
  | Sequence
  | Step
  | Terminate
  | While;

/** The one place that forgets which activity a behaviour is for: the table's keys are the `activity` of its shapes. */
export const behaviourOf = (type: ActivityType): Behaviour => behaviours[type] as unknown as Behaviour;
