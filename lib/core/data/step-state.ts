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
  /**
   * The purpose of the request, if it is not the operation itself. `undo`: repeated until it succeeds. `confirm`: finds
   * out whether the step was done, under the same key, until the answer is definite. `cancel`: no new request, but a
   * reply may still come.
   */
  readonly mode?: 'undo' | 'confirm' | 'cancel';
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
  /** The reason that the agent gave for "not now". */
  readonly reason?: string;
  /** The agent of a canceled step has replied, but the outcome is unknown. */
  readonly agentStopped?: true;
  /** When the time for all its attempts ends. */
  readonly limit?: number;
  /** The first request under its key, although not the first of the step. No earlier request can have caused this effect. */
  readonly newKey?: true;
}

export type StepState = StepAttempt & {
  readonly phase:
    | 'requested'
    /** The agent replied "not now". The step waits for its deadline, as if the agent had not replied. */
    | 'failedForNow'
    /** The agent refused. Another request is a new effect. */
    | 'refused'
    /** The outcome is unknown, although the agent replied or the time is over. */
    | 'unknown'
    /** An undo or a confirmation failed. It is requested again at `completeBy`. */
    | 'waitingToRetry'
    /** The step was done although it was canceled. Its undo is running. */
    | 'undoing'
    /** The input of the undo could not be evaluated. It is never requested, and waits for a person. */
    | 'impossible';
};

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
