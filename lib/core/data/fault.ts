import type { Json } from './json.ts';

/**
 * Where a fault comes from (WSEHF 3.1): the engine or its surroundings; the called program; a fault that was declared
 * when the workflow was modelled; one that nobody foresaw.
 */
export type FaultClass = 'basic-failure' | 'application-failure' | 'expected' | 'unexpected';

/** Data that describes what went wrong. Never an exception of the host language. */
export interface Fault {
  /** The type with its ancestors, most general first: `Refused/CardDeclined`. */
  readonly type: string;
  readonly class: FaultClass;
  /** Asking again can't help. */
  readonly permanent: boolean;
  readonly message: string;
  /** The effect may exist although no usable answer came: it must be settled before anything is undone. */
  readonly outcomeUnknown?: boolean;
  readonly data?: Json;
  /** Path of the activity at which it was raised. */
  readonly source?: string;
}

/** Faults that the engine itself raises. Every one is within `Engine`, so that one handler can take them all. */
export const engineFaults = {
  deadlineExceeded: 'Engine/DeadlineExceeded',
  expressionFailed: 'Engine/ExpressionFailed',
  expressionTooLarge: 'Engine/ExpressionTooLarge',
  /** A step has another input than in an earlier run, whose effect can't be undone for itself. */
  inputChanged: 'Engine/InputChanged',
  invalidReply: 'Engine/InvalidReply',
  /** An order that was called ended otherwise than completed. */
  childNotCompleted: 'Engine/ChildNotCompleted',
  /** A function of the workflow failed. */
  computeFailed: 'Engine/ComputeFailed',
  /** A signal that was waited for did not come in time. */
  noSignal: 'Engine/NoSignal',
  tooManyItems: 'Engine/TooManyItems',
  tooManyTurns: 'Engine/TooManyTurns',
  /** Asked for once, and never again: whether it was done is not known. */
  outcomeUnknown: 'Engine/OutcomeUnknown',
  inputTooLarge: 'Engine/InputTooLarge',
  outputTooLarge: 'Engine/OutputTooLarge',
  stateTooLarge: 'Engine/StateTooLarge',
  /** An activity of an app's own ran a child again without saying that it may. */
  ranTwice: 'Engine/RanTwice',
  /** The service refused without a usable code. */
  requestRefused: 'Engine/RequestRefused',
  /** The message itself could not be processed (PM). */
  requestRejected: 'Engine/RequestRejected',
  serviceUnavailable: 'Engine/ServiceUnavailable',
} as const;

/** The kind of all declared faults that may pass. */
export const transient = 'Transient';

/** The root of all types: every fault is a kind of it, declared or not. */
export const anyFault = '*';

/** Whether a type is another one, or extends it. */
export const isKindOf = (type: string, ancestor: string): boolean =>
  ancestor === anyFault || type === ancestor || type.startsWith(`${ancestor}/`);

/** Whether a fault of this type may be over by the next attempt. */
export const isTransient = (type: string): boolean => isKindOf(type, transient);

/** The last part of a fault's type, as people and the HTTP API name it: `CardDeclined`. */
export const shortType = (type: string): string => type.slice(type.lastIndexOf('/') + 1);

export const engineFault = (type: string, message: string, more: Partial<Fault> = {}): Fault => ({
  type,
  class: 'basic-failure',
  permanent: true,
  message,
  ...more,
});

/** Nothing more is asked. */
export const deadlinePassed = engineFault(engineFaults.deadlineExceeded, 'The time of the whole order is over, so nothing more is asked.');

/** Of an activity of an app's own, for a child of it. */
export const ranTwice = (path: string, activity: string, child: string): Fault =>
  engineFault(
    engineFaults.ranTwice,
    `${path} runs "${child}" a second time, and ${activity} does not say that it may. Set "reruns: true" in its behavior, so that what was done is not done twice; or "repeats: true", with a number for each turn.`,
  );

/** Not a fault that anything takes: a question to a person, for which the order is held. */
export const operatorAsked = 'OperatorAsked';

export const isQuestion = ({ type }: Fault): boolean => type === operatorAsked;
