import { type Fault, isQuestion } from '#core/data/fault';
import type { Closing } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { cancel } from './cancellation.ts';
import { undoNext } from './compensation.ts';
import { requestCancel } from './requests.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Ends the order after its root activity has closed. If it ends early, all its completed work is undone first. */
export function rootClosed(builder: TransitionBuilder, closing: Closing): void {
  // A called order passes an unhandled fault to its caller, after it has undone all its work.
  if (closing.result === 'Faulted') builder.set({ ending: { outcome: 'compensated', fault: closing.fault }, cause: closing.fault });
  const { ending, compensated, undone } = builder.state;
  if (ending) {
    builder.put(rootPath, { status: 'Compensating', local: { scope: rootPath } });
    return undoNext(builder, rootPath);
  }
  if (closing.result === 'Canceled') return builder.end('terminated');
  builder.end(!compensated ? 'completed' : undone ? 'compensated' : 'rejected');
}

/**
 * Ends the order as it is and ignores later replies. It cancels open requests, but not undos: a finished undo is better
 * than a half-done one.
 */
export function terminate(builder: TransitionBuilder): void {
  for (const [path, { reply }] of Object.entries(builder.state.activities)) {
    const step = builder.stepAt(path);
    const isOutstanding = step?.phase === 'requested' && !reply && step.completeBy > builder.event.at;
    if (isOutstanding && step.mode !== 'undo' && step.mode !== 'cancel') requestCancel(builder, path, step);
  }
  keepCause(builder, builder.state.blocked?.fault);
  builder.end('terminated');
}

/** Keeps the fault for which the order ends, if there is one. A question to a person is not a fault. */
export function keepCause(builder: TransitionBuilder, cause: Fault | undefined): void {
  if (cause && !isQuestion(cause)) builder.set({ cause });
}

/** Cancels all open activities. After the root has closed, `rootClosed` undoes all completed work. */
export function endOrder(builder: TransitionBuilder, outcome: 'canceled' | 'compensated'): void {
  builder.set({ ending: { outcome } });
  if (builder.activity(rootPath)) cancel(builder, rootPath);
  else builder.jobs.next({ do: 'rootClosed', closing: { result: 'Canceled' } });
}

/** Undoes a completed order for its caller. */
export function compensateForCaller(builder: TransitionBuilder): void {
  const { outcome: _, ...state } = builder.state;
  builder.replaceState({ ...state, phase: 'running', compensatedByCaller: true, ending: { outcome: 'compensated' } });
  builder.jobs.next({ do: 'rootClosed', closing: { result: 'Canceled' } });
}
