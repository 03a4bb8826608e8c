import type { Json } from './json.ts';

interface StepAttempt {
  /** The number of the effect. It rises when the effect gets a new idempotency key. */
  readonly generation: number;
  readonly attempt: number;
  /** The epoch of the claim under which it was requested. */
  readonly epoch: number;
  readonly completeBy: number;
  /** When it was requested: `longestSeconds` counts from here. */
  readonly since: number;
  /** The input of the request, if a second evaluation could differ: one key has one input. */
  readonly input?: Json;
  /** The first attempt of an undo or a confirmation. Retry pauses grow from there. */
  readonly from?: number;
  /** For a confirmation: the earlier request may have its effect until then. */
  readonly until?: number;
  /** An undo or a confirmation that has failed before. */
  readonly failed?: true;
  /** How often a person was notified of the failing undo, and when the next reminder is due: milliseconds since 1970. */
  readonly reminders?: { readonly times: number; readonly nextAt: number };
  /** The effect of an earlier run with another input is confirmed and undone. Then the step starts again, unless it is canceled. */
  readonly replacesFormer?: true;
  /** The reason that the agent gave for its last "not now". It stays while the step is requested again. */
  readonly reason?: string;
  /** The agent of a canceled step has replied, but the outcome is unknown. */
  readonly agentStopped?: true;
  /** When the time for all its attempts ends. */
  readonly limit?: number;
  /** The first request under its key, although not the first of the step. No earlier request can have caused this effect. */
  readonly newKey?: true;
}

/** The request of the operation itself. */
interface Operating {
  readonly mode?: never;
  readonly phase:
    | 'requested'
    /** The agent replied "not now". The step waits for its deadline, as if the agent had not replied. */
    | 'failedForNow'
    /** The agent refused. Another request is a new effect. */
    | 'refused'
    /** The outcome is unknown, although the agent replied or the time is over. */
    | 'unknown';
}

/** The request of an undo. It is repeated until it succeeds. */
interface Undoing {
  readonly mode: 'undo';
  readonly phase:
    | 'requested'
    /** It failed, and is requested again at `completeBy`. */
    | 'waitingToRetry'
    /** Its input could not be evaluated. It is never requested, and waits for a person. */
    | 'impossible';
}

/** The request that finds out whether the step was done, under the same key. It is repeated until the answer is definite. */
interface Confirming {
  readonly mode: 'confirm';
  readonly phase:
    | 'requested'
    /** It failed, and is requested again at `completeBy`. */
    | 'waitingToRetry';
}

/** A canceled step. It sends no new request, but a reply may still come. */
interface Canceling {
  readonly mode: 'cancel';
  readonly phase:
    | 'requested'
    /** The step was done, although it was canceled or its input has changed. Its undo is running. */
    | 'undoing';
}

/** A step that requests its own operation. */
export type OperatingStep = StepAttempt & Operating;

/** A step that undoes, or finds out whether there is anything to undo. */
export type CompensatingStep = StepAttempt & (Undoing | Confirming);

/** The local state of a step or a call: its request, the purpose of that request (`mode`), and how far it is (`phase`). */
export type StepState = OperatingStep | CompensatingStep | (StepAttempt & Canceling);

/** Whether a reply may still decide the present request. */
export const awaitsReply = ({ phase }: StepState): boolean => phase === 'requested' || phase === 'failedForNow';

/** The result of a step's earlier runs inside a retry. Its key shows which effect must not be repeated. */
export interface StepMemo {
  readonly generation: number;
  readonly attempt: number;
  /** `open`: requested, without a definite reply. */
  readonly outcome: 'done' | 'refused' | 'undone' | 'open';
  readonly output?: Json;
  /** If open: the input under its key. A key never gets a second input. */
  readonly input?: Json;
  /** If open: the last request may have its effect until then. */
  readonly until?: number;
  /** If done: the fingerprint of its input. Another input is another effect. */
  readonly inputHash?: string;
}
