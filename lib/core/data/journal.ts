import type { Closing } from '#core/engine/behavior';
import type { Fault } from './fault.ts';
import type { Json } from './json.ts';
import type { Result } from './state.ts';

/**
 * What the core says of itself. `asking` is the end of a request id: `requestIdFrom` puts order and path before it.
 * The scheduler adds facts about the order as a whole. */
export type CoreFact =
  | { readonly type: 'ActivityStarted'; readonly path: string }
  | { readonly type: 'StepRequested'; readonly path: string; readonly attemptId: string; readonly completeBy: number }
  | { readonly type: 'StepExtended'; readonly path: string; readonly attemptId: string; readonly completeBy: number }
  | { readonly type: 'AttemptFailed'; readonly path: string; readonly attemptId: string; readonly fault: Fault }
  /** An answer that came while the order was held. */
  | { readonly type: 'ReplyRecorded'; readonly path: string; readonly attemptId: string; readonly status: string }
  | { readonly type: 'ActivityClosed'; readonly path: string; readonly result: Result; readonly attemptId?: string; readonly output?: Json }
  | { readonly type: 'FaultRaised'; readonly path: string; readonly fault: Fault }
  /** The fault of `child` has reached this activity, which cancels its other children and cleans up first. */
  | { readonly type: 'ActivityFaulting'; readonly path: string; readonly child: string }
  /** The activities that clean up after a fault or a cancellation begin. */
  | { readonly type: 'CleanUpStarted'; readonly path: string }
  /** A handler begins, which takes the fault. */
  | { readonly type: 'FaultHandled'; readonly path: string; readonly handler: string; readonly fault: Fault }
  | { readonly type: 'RunFailed'; readonly path: string; readonly attempt: number; readonly fault: Fault }
  | { readonly type: 'CancelRequested'; readonly path: string; readonly attemptId?: string }
  /** A canceled step did what it was asked for after all: it is undone. */
  | { readonly type: 'LateResult'; readonly path: string; readonly attemptId: string }
  /** Nobody will know whether it was done, and it has no undo. */
  | { readonly type: 'OutcomeUnknown'; readonly path: string; readonly attemptId: string }
  | { readonly type: 'UndoFailed'; readonly path: string; readonly attemptId: string; readonly stuck: boolean; readonly fault?: Fault }
  | { readonly type: 'SignalReceived'; readonly name: string; readonly path?: string }
  | { readonly type: 'MarkedCompensated'; readonly path: string }
  | { readonly type: 'OrderBlocked'; readonly path: string; readonly fault: Fault }
  | { readonly type: 'OrderUnblocked'; readonly path: string };

/** One line of an order's history. */
export type Fact<F = CoreFact> = F & {
  /** Rises by one from line to line. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Leaves out collected lists: the history has the outputs they consist of. */
export function closedFact(path: string, closing: Closing, attemptId: string | undefined): CoreFact {
  const output = closing.result === 'Succeeded' ? closing.output : undefined;
  const { result } = closing;
  return { type: 'ActivityClosed', path, result, ...(attemptId ? { attemptId } : {}), ...(output === undefined ? {} : { output }) };
}
