import type { Json } from './json.ts';

/**
 * The source of a fault (WSEHF 3.1): the engine or its surroundings, the called service, a fault that the workflow
 * declares, or one that nobody foresaw.
 */
export const faultClasses = ['basic-failure', 'application-failure', 'expected', 'unexpected'] as const;
export type FaultClass = (typeof faultClasses)[number];

/** Further marks of a fault (F-124). `technical` or `user`: its cause. `system` or `semantic`: the kind of failure. */
export const faultTags = ['technical', 'user', 'system', 'semantic'] as const;
export type FaultTag = (typeof faultTags)[number];

/** The fields that the declaration of a fault adds to its type. */
export interface FaultDetails {
  /** One of `technical` and `user`, one of `system` and `semantic`. Default: those of the class. */
  readonly tags?: readonly FaultTag[];
  /** Faults of this type with different messages have different fingerprints. Default: the message does not count. */
  readonly groupBy?: 'message';
}

/** A failure as data. It is never an exception of the host language. */
export interface Fault extends FaultDetails {
  /** The type with its ancestors, the most general first: `Refused/CardDeclined`. */
  readonly type: string;
  readonly class: FaultClass;
  /** A new attempt cannot help. */
  readonly permanent: boolean;
  readonly message: string;
  /** The effect may exist although no usable reply came. It must be confirmed before anything is undone. */
  readonly outcomeUnknown?: boolean;
  readonly data?: Json;
  /** The path of the activity that raised it. */
  readonly source?: string;
}

/** Faults that the engine itself raises. All of them extend `Engine`, so one handler can catch them all. */
export const engineFaults = {
  deadlineExceeded: 'Engine/DeadlineExceeded',
  expressionFailed: 'Engine/ExpressionFailed',
  expressionTooLarge: 'Engine/ExpressionTooLarge',
  /** A step has another input than in an earlier run, and the step has no undo for that run's effect. */
  inputChanged: 'Engine/InputChanged',
  invalidReply: 'Engine/InvalidReply',
  /** A called order ended without being completed. */
  childNotCompleted: 'Engine/ChildNotCompleted',
  /** A function of the workflow threw an error. */
  computeFailed: 'Engine/ComputeFailed',
  /** An expected signal did not arrive in time. */
  noSignal: 'Engine/NoSignal',
  tooManyItems: 'Engine/TooManyItems',
  tooManyTurns: 'Engine/TooManyTurns',
  /** The operation runs at most once, and its outcome is unknown. */
  outcomeUnknown: 'Engine/OutcomeUnknown',
  inputTooLarge: 'Engine/InputTooLarge',
  outputTooLarge: 'Engine/OutputTooLarge',
  /** The code of an operation fails at the same place at each try. */
  programmingError: 'Engine/ProgrammingError',
  stateTooLarge: 'Engine/StateTooLarge',
  /** A custom activity ran a child again without declaring that it may. */
  ranTwice: 'Engine/RanTwice',
  /** The service refused the operation without a usable code. */
  requestRefused: 'Engine/RequestRefused',
  /** The message itself could not be processed (Process Manager: error 500). */
  requestRejected: 'Engine/RequestRejected',
  serviceUnavailable: 'Engine/ServiceUnavailable',
  /** Two steps of an order are at work on an object that both write. */
  writersConflict: 'Engine/WritersConflict',
} as const;

/** The ancestor of all declared faults that may be over by the next attempt. */
export const transient = 'Transient';

/** The root of all types. Every fault is a kind of it, declared or not. */
export const anyFault = '*';

/** Whether a type equals another one, or extends it. */
export const isKindOf = (type: string, ancestor: string): boolean =>
  ancestor === anyFault || type === ancestor || type.startsWith(`${ancestor}/`);

/** Whether a fault of this type may be over by the next attempt. */
export const isTransient = (type: string): boolean => isKindOf(type, transient);

/** Returns the last part of a fault's type, as people and the HTTP API name it: `CardDeclined`. */
export const shortType = (type: string): string => type.slice(type.lastIndexOf('/') + 1);

/** The classes of the engine's own faults, where it is not the engine or its surroundings that failed (F-123). */
const classes: { readonly [type: string]: FaultClass } = {
  // The service or the app's code is at fault: the answer is unusable or too large, the code throws, or one request had no clear outcome.
  [engineFaults.invalidReply]: 'application-failure',
  [engineFaults.outputTooLarge]: 'application-failure',
  [engineFaults.programmingError]: 'application-failure',
  [engineFaults.computeFailed]: 'application-failure',
  [engineFaults.ranTwice]: 'application-failure',
  [engineFaults.outcomeUnknown]: 'application-failure',
  [engineFaults.childNotCompleted]: 'application-failure',
  // A refusal that nobody declared.
  [engineFaults.requestRefused]: 'unexpected',
  // The author of the workflow did not foresee that its steps conflict.
  [engineFaults.writersConflict]: 'unexpected',
};

/** Returns the class of one of the engine's own faults. */
export const classOfEngineFault = (type: string): FaultClass => classes[type] ?? 'basic-failure';

const isOfUser = (faultClass: FaultClass): boolean => faultClass === 'expected' || faultClass === 'unexpected';

/** Returns the tags of a fault: those that its declaration gives, or those of its class. */
export const tagsOf = ({ class: faultClass, tags }: Pick<Fault, 'class' | 'tags'>): readonly FaultTag[] =>
  tags ?? (isOfUser(faultClass) ? ['user', 'semantic'] : ['technical', 'system']);

export const engineFault = (type: string, message: string, more: Partial<Fault> = {}): Fault => ({
  type,
  class: classOfEngineFault(type),
  permanent: true,
  message,
  ...more,
});

/** The time limit of the order has passed. No more requests are sent. */
export const deadlinePassed = engineFault(
  engineFaults.deadlineExceeded,
  'The time limit of the order has passed. No more requests are sent.',
);

/** Returns the fault of a custom activity that runs a child twice. */
export const ranTwice = (path: string, activity: string, child: string): Fault =>
  engineFault(
    engineFaults.ranTwice,
    `${path} runs "${child}" a second time, and ${activity} does not declare that it may. Set "reruns: true" in its behavior, so that completed steps are not repeated, or "repeats: true", with a number for each turn.`,
  );

/** The type of a question to a person. The order is blocked for it, and no handler catches it. */
export const operatorAsked = 'OperatorAsked';

export const isQuestion = ({ type }: Pick<Fault, 'type'>): boolean => type === operatorAsked;
