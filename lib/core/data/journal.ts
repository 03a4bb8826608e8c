import type { Fault } from './fault.ts';
import type { Json } from './json.ts';
import type { Closing, Result, Skip } from './state.ts';

/**
 * A fact that the core writes into the journal. `attemptId` is the end of a request id: `requestIdFrom` adds order and
 * path. The scheduler adds facts about the order as a whole.
 */
export type CoreFact =
  | { readonly type: 'ActivityStarted'; readonly path: string }
  | { readonly type: 'StepRequested'; readonly path: string; readonly attemptId: string; readonly completeBy: number }
  | { readonly type: 'StepExtended'; readonly path: string; readonly attemptId: string; readonly completeBy: number }
  | { readonly type: 'AttemptFailed'; readonly path: string; readonly attemptId: string; readonly fault: Fault }
  /** A reply that arrived while the order was blocked or suspended. */
  | { readonly type: 'ReplyRecorded'; readonly path: string; readonly attemptId: string; readonly status: string }
  | { readonly type: 'ActivityClosed'; readonly path: string; readonly result: Result; readonly attemptId?: string; readonly output?: Json }
  | { readonly type: 'FaultRaised'; readonly path: string; readonly fault: Fault }
  /** The fault of `child` has reached this activity. Before a handler starts, the activity cancels its other children and cleans up. */
  | { readonly type: 'ActivityFaulting'; readonly path: string; readonly child: string }
  /** The activities that clean up after a fault or a cancellation start. */
  | { readonly type: 'CleanUpStarted'; readonly path: string }
  /** The handler that matches the fault starts. */
  | { readonly type: 'FaultHandled'; readonly path: string; readonly handler: string; readonly fault: Fault }
  /** A run of the activity inside a retry has failed. `attempt`: the number of the run. */
  | { readonly type: 'RunFailed'; readonly path: string; readonly attempt: number; readonly fault: Fault }
  | { readonly type: 'CancelRequested'; readonly path: string; readonly attemptId?: string }
  /** A canceled step turned out to be done. It is undone. `output`: only if its operation declares the objects that it uses. */
  | { readonly type: 'LateResult'; readonly path: string; readonly attemptId: string; readonly output?: Json }
  /** The outcome stays unknown, because the step has no undo. */
  | { readonly type: 'OutcomeUnknown'; readonly path: string; readonly attemptId: string }
  /** An undo, or the confirmation before it, has failed and will be repeated. `stuck`: a person is notified, or reminded. */
  | { readonly type: 'UndoFailed'; readonly path: string; readonly attemptId: string; readonly stuck: boolean; readonly fault?: Fault }
  | { readonly type: 'SignalReceived'; readonly name: string; readonly path?: string }
  | { readonly type: 'MarkedCompensated'; readonly path: string }
  /** The activity closes without being done, because of an instruction. */
  | { readonly type: 'ActivitySkipped'; readonly path: string; readonly effect: Skip['effect'] }
  | { readonly type: 'OrderBlocked'; readonly path: string; readonly fault: Fault }
  | { readonly type: 'OrderUnblocked'; readonly path: string };

/** One line of an order's history. */
export type Fact<F = CoreFact> = F & {
  /** Increases by one from line to line. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Returns the journal line for a closed activity. It omits collected lists: the history already has the outputs they consist of. */
export function closedFact(path: string, closing: Closing, attemptId: string | undefined): CoreFact {
  const output = closing.result === 'Succeeded' ? closing.output : undefined;
  const { result } = closing;
  return { type: 'ActivityClosed', path, result, ...(attemptId ? { attemptId } : {}), ...(output === undefined ? {} : { output }) };
}
