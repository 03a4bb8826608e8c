import type { Json } from './json.ts';

interface StepAttempt {
  /** The ordinal number of the effect, part of its idempotency key. A new effect of the step gets the next number. */
  readonly generation: number;
  /** The number of the request, a part of its id (see `ids.ts`). */
  readonly attempt: number;
  /** The epoch of the claim under which this attempt was requested. */
  readonly epoch: number;
  readonly completeBy: number;
  /** The time at which this attempt was requested: `longestSeconds` counts from here. */
  readonly since: number;
  /** The input of the request, if a second evaluation could differ: one key has one input. */
  readonly input?: Json;
  /** The first attempt of an undo or a confirmation. Retry pauses grow from there. */
  readonly from?: number;
  /** The time until which the earlier request may have its effect, for a confirmation. */
  readonly until?: number;
  /** An undo or a confirmation that has failed before. */
  readonly failed?: true;
  /** The number of notifications about the failing undo, and when the next one is due: milliseconds since 1970. */
  readonly reminders?: { readonly times: number; readonly nextAt: number };
  /**
   * An earlier run had another input. The engine first finds out whether that run had its effect, and undoes the effect. Then the
   * step starts again, unless it was canceled meanwhile.
   */
  readonly replacesFormer?: true;
  /** The reason that the agent gave for its last "not now". It stays while the step is requested again. */
  readonly reason?: string;
  /** The agent of a canceled step has replied, but the outcome is unknown. */
  readonly agentStopped?: true;
  /** The end of the time for all attempts of the step: milliseconds since 1970. */
  readonly limit?: number;
  /** The first request under its idempotency key, although not the first of the step. No earlier request can have caused this effect. */
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

/** The request of an undo: the state at the path of the undo step, such as `order/charge/undo`. It is repeated until it succeeds. */
interface Undoing {
  readonly mode: 'undo';
  readonly phase:
    | 'requested'
    /** The undo failed, and is requested again at `completeBy`. */
    | 'waitingToRetry'
    /** The input of the undo could not be evaluated. The undo is never requested, and waits for a person. */
    | 'impossible';
}

/** The request that finds out whether the step was done, under its idempotency key. It is repeated until the answer is definite. */
interface Confirming {
  readonly mode: 'confirm';
  readonly phase:
    | 'requested'
    /** The confirmation failed, and is requested again at `completeBy`. */
    | 'waitingToRetry';
}

/** A step whose effect is not needed: it was canceled, or replaces the effect of an earlier run. It sends no new request itself. */
interface Canceling {
  readonly mode: 'cancel';
  readonly phase: /** The step was canceled. Its agent may still reply. */
    | 'requested'
    /** The step was done after all, or in an earlier run. It waits for its undo, which runs at its own path with `mode: 'undo'`. */
    | 'undoing';
}

/** A step that requests its own operation. */
export type OperatingStep = StepAttempt & Operating;

/** A step that undoes, or finds out whether there is anything to undo. */
export type CompensatingStep = StepAttempt & (Undoing | Confirming);

/** The local state of a step or a call: its request, the purpose of that request (`mode`), and how far it is (`phase`). */
export type StepState = OperatingStep | CompensatingStep | (StepAttempt & Canceling);

/** Whether the present request is open: no reply has come, or only "not now", which counts as no reply. */
export const awaitsReply = ({ phase }: StepState): boolean => phase === 'requested' || phase === 'failedForNow';

/** The result of a step's earlier runs inside a retry. `generation` names the effect that must not be repeated. */
export interface StepMemo {
  readonly generation: number;
  readonly attempt: number;
  /** `open`: requested, without a definite reply. */
  readonly outcome: 'done' | 'refused' | 'undone' | 'open';
  readonly output?: Json;
  /** The input of the request, with the outcome `open`. An idempotency key never gets a second input. */
  readonly input?: Json;
  /** The time until which the last request may have its effect, with the outcome `open`. */
  readonly until?: number;
  /** The fingerprint of the input, with the outcome `done`. Another input is another effect. */
  readonly inputHash?: string;
}
