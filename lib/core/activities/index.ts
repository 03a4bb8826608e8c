import type { Behaviour } from '../behaviour.ts';
import { type Delay, delay } from './delay.ts';
import { type Parallel, parallel } from './parallel.ts';
import { type Sequence, sequence } from './sequence.ts';
import { type Step, step } from './step.ts';

/** The behaviour of every activity type. A new one is a file beside this, its name here and its shape below; one without the other does not compile. */
export const behaviours = { delay, parallel, sequence, step } satisfies Record<ActivityOf['activity'], unknown>;

export type ActivityType = keyof typeof behaviours;
export type ActivityOf = Delay | Parallel | Sequence | Step;

/** The one place that forgets which activity a behaviour is for: the table's keys are the `activity` of its shapes. */
export const behaviourOf = (type: ActivityType): Behaviour => behaviours[type] as unknown as Behaviour;
