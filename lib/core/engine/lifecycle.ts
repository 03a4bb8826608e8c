import { faultIn, isDefiniteRefusal, isRunToConfirm, possibleUntil, type StepState } from '#core/activities/step';
import type { StepReply } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import { attemptIdOf, idempotencyKeyOf, requestIdOf } from '#core/data/ids';
import { isRemote, rootPath } from '#core/definition/definition';
import type { Closing, Next } from './behavior.ts';
import { succeeded } from './behavior.ts';
import {
  canBeUndone,
  confirm,
  continueUndoing,
  isUndoing,
  noteDone,
  noteRefused,
  noteUndone,
  noteUnknown,
  noteWhole,
  replaceFormer,
  restartedAfterReplacing,
  undoLate,
  undoNext,
} from './compensation.ts';
import { handlerFor, isHandled, isRetried } from './fault-routing.ts';
import { withoutOutputsIn } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Applies the part of an outcome that ends activities: closing, faults and cancellation, by the rules of Windows Workflow (WF). */
export function applyOutcome(builder: TransitionBuilder, path: string, next: Next<unknown>): void {
  if (next.raise) raise(builder, path, next.raise);
  if (next.close) close(builder, path, next.close);
  if (next.cancelChildren) {
    builder.stop(path);
    for (const child of builder.children(path)) cancel(builder, child);
  }
  if (next.undoNext) undoNext(builder, path);
  if (next.replacesFormer) replaceFormer(builder, path);
  if (next.terminate) terminate(builder);
}

/** Closes an activity. The work of a step is recorded before the step leaves the state. */
export function close(builder: TransitionBuilder, path: string, closing: Closing): void {
  const local = isRemote(builder.node(path)) ? (builder.local(path) as StepState | undefined) : undefined;
  if (local?.mode === 'confirm') return closeConfirmed(builder, path, local, closing);
  if (local?.mode === 'undo') noteUndone(builder, path);
  if (local?.mode === undefined && local && closing.result === 'Succeeded') noteDone(builder, path, local, closing.output);
  if (!isRemote(builder.node(path)) && closing.result === 'Succeeded') noteWhole(builder, path);
  builder.close(path, closing);
}

/** Closes a step whose outcome is now definite. The activity that waited for it continues. A canceled step that was done is undone. */
function closeConfirmed(builder: TransitionBuilder, path: string, local: StepState, closing: Closing): void {
  const done = closing.result === 'Succeeded';
  if (done && canBeUndone(builder, path) && builder.activity(path)?.status === 'Canceling')
    return undoLate(builder, path, local, closing.output ?? null);
  if (done) noteDone(builder, path, local, closing.output);
  else noteRefused(builder, path, local);
  if (!restartedAfterReplacing(builder, path)) builder.close(path, { result: 'Canceled' });
}

/**
 * Raises a fault. If nothing up to the root handles it, the order is blocked as it is and no activity is closed. A
 * second fault in the same instant waits until a person has dealt with the first.
 */
export function raise(builder: TransitionBuilder, path: string, fault: Fault): void {
  const raised: Fault = { ...fault, source: fault.source ?? path };
  if (builder.state.phase === 'running' && builder.blockingPath() === undefined && isHandled(builder, path, raised))
    return propagateFault(builder, path, raised);
  builder.faulting(path, raised, true);
  builder.blockFor(path);
}

/** Blocks the order for a question to a person, whatever handlers are around it. */
export function askPerson(builder: TransitionBuilder, path: string, question: Fault): void {
  builder.faulting(path, { ...question, source: path }, true);
  builder.blockFor(path);
}

/** Propagates a fault: the children are canceled and closed first, then a handler is searched (WF). */
export function propagateFault(builder: TransitionBuilder, path: string, fault: Fault): void {
  builder.fact({ type: 'FaultRaised', path, fault });
  fail(builder, path, fault);
}

/** Takes a fault of the activity or of a child: its children are canceled, and it cleans up. */
function fail(builder: TransitionBuilder, path: string, fault: Fault): void {
  const node = builder.node(path);
  const cleanUp = builder.behavior(path).handleFault?.(node, builder.local(path), fault, builder.context(path));
  if (isRemote(node)) return closeFaulted(builder, path, fault);
  builder.faulting(path, fault);
  if (cleanUp) builder.patch(path, { cleanUp: cleanUp.run });
  cancelChildren(builder, path);
}

/** Closes a failed step. Its last known phase decides what a later run may do, and whether there is something to undo. */
function closeFaulted(builder: TransitionBuilder, path: string, fault: Fault): void {
  const local = builder.local(path) as StepState | undefined;
  if (local && local.attempt > 0) {
    if (local.phase === 'refused') noteRefused(builder, path, local);
    else noteUnknown(builder, path, local);
  }
  builder.close(path, { result: 'Faulted', fault });
}

/** Cancels all open children. The last one to close continues its parent. */
function cancelChildren(builder: TransitionBuilder, path: string): void {
  const children = builder.children(path);
  // An activity that cleans up is not interrupted.
  if (!builder.isCleaningUp(path)) for (const child of children) cancel(builder, child);
  if (children.length === 0) builder.later(() => childrenClosed(builder, path));
}

/** Continues an activity after its last child has closed. */
function childrenClosed(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || builder.hasChildren(path) || builder.cleanUp(path)) return;
  if (activity.status === 'Canceling') return close(builder, path, { result: 'Canceled' });
  if (activity.status !== 'Faulting' || activity.handling || !activity.fault) return;

  const { fault } = activity;
  const parent = builder.parentFor(path);
  // While an enclosing retry will run this activity again, its own handlers are skipped (WF).
  const handler = parent !== undefined && isRetried(builder, parent, fault) ? undefined : handlerFor(builder, path, fault);
  if (!handler) return builder.close(path, { result: 'Faulted', fault });
  builder.patch(path, { handling: true });
  builder.fact({ type: 'FaultHandled', path, handler: handler.do.name, fault });
  builder.execute(`${path}/${handler.do.name}`);
}

export function cancel(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || activity.status === 'Canceling' || activity.status === 'Compensating') return;
  const node = builder.node(path);
  if (isRemote(node)) return cancelStep(builder, path);
  // The child that is about to start must be open first, or its clean-up would be lost.
  if (builder.behavior(path).cancel && builder.isStarting(path)) return builder.later(() => cancel(builder, path));

  const cleanUp =
    activity.status === 'Executing' ? builder.behavior(path).cancel?.(node, activity.local, builder.context(path)) : undefined;
  builder.canceling(path);
  if (cleanUp) builder.patch(path, { cleanUp: cleanUp.run });
  cancelChildren(builder, path);
}

/** Cancels a step and tells its agent. The step stays open until its reply or its deadline, because a completed step must be undone. */
function cancelStep(builder: TransitionBuilder, path: string): void {
  const local = builder.local(path) as StepState | undefined;
  const { reply } = builder.activity(path) ?? {};
  // A running undo continues to its end, as does a confirmation.
  if (local?.mode && !local.replacesFormer) return;
  builder.canceling(path);
  if (local?.mode) return;
  if (!local || local.attempt === 0) return builder.close(path, { result: 'Canceled' });
  if (reply) return answerCanceled(builder, path, reply);
  if (local.phase === 'requested' && local.completeBy > builder.event.at) {
    builder.setLocal(path, { ...local, mode: 'cancel' });
    return requestCancel(builder, path, local);
  }
  if (local.phase === 'refused') return closeRefused(builder, path, local);
  leaveUnknown(builder, path, local);
}

function closeRefused(builder: TransitionBuilder, path: string, local: StepState): void {
  noteRefused(builder, path, local);
  builder.close(path, { result: 'Canceled' });
}

function requestCancel(builder: TransitionBuilder, path: string, local: StepState): void {
  const node = builder.node(path);
  if (!isRemote(node)) return;
  builder.fact({ type: 'CancelRequested', path, attemptId: attemptIdOf(local) });
  const { orderId } = builder.subject;
  const requestId = requestIdOf(orderId, path, local);
  const idempotencyKey = idempotencyKeyOf(orderId, path, local.generation);
  builder.commands.push({ type: 'cancel', path, agent: node.agent, requestId, idempotencyKey });
}

/** Handles the reply to a canceled step. A completed step is undone before it closes. */
export function answerCanceled(builder: TransitionBuilder, path: string, reply: StepReply): void {
  const local = builder.local(path) as StepState;
  if (reply.status === 'succeeded') {
    builder.fact({ type: 'LateResult', path, attemptId: attemptIdOf(local) });
    if (canBeUndone(builder, path)) return undoLate(builder, path, local, reply.output);
    noteDone(builder, path, local, reply.output);
    return builder.close(path, { result: 'Canceled' });
  }
  if (isDefiniteRefusal(reply)) return closeRefused(builder, path, local);
  const node = builder.node(path);
  const runsAgain = canBeUndone(builder, path) && isRemote(node) && isRunToConfirm(node);
  if (runsAgain && local.mode === 'cancel' && local.completeBy > builder.event.at) return waitForCompleteBy(builder, path, local, reply);
  leaveUnknown(builder, path, local);
}

/** Keeps a canceled step open until its deadline: its agent may still be working, so it must not run again before. */
function waitForCompleteBy(builder: TransitionBuilder, path: string, local: StepState, reply: StepReply): void {
  if (local.agentStopped) return;
  if (reply.status !== 'succeeded') builder.fact({ type: 'AttemptFailed', path, attemptId: attemptIdOf(local), fault: faultIn(reply) });
  builder.setLocal(path, { ...local, agentStopped: true });
}

/** Leaves a step whose deadline has passed or whose reply is inconclusive. Its outcome is confirmed if it can be undone. */
export function leaveUnknown(builder: TransitionBuilder, path: string, local: StepState): void {
  const node = builder.node(path);
  if (canBeUndone(builder, path) && isRemote(node)) return confirm(builder, path, { ...local, until: possibleUntil(node, local) });
  builder.fact({ type: 'OutcomeUnknown', path, attemptId: attemptIdOf(local) });
  noteUnknown(builder, path, local);
  builder.close(path, { result: 'Canceled' });
}

/** Notifies the parent that a child has closed. */
export function notifyParent(builder: TransitionBuilder, path: string, parent: string | undefined, closing: Closing): void {
  if (parent === undefined) return finish(builder, closing);
  builder.later(() => childClosed(builder, parent, path, closing));
  if (builder.state.undo && isRemote(builder.node(path))) builder.later(() => continueUndoing(builder));
}

function childClosed(builder: TransitionBuilder, path: string, child: string, closing: Closing): void {
  const activity = builder.activity(path);
  if (!activity) return;
  const turn = /^(.*\[\d+\]\/)[^/]+$/.exec(child)?.[1];
  if (turn?.startsWith(`${path}[`)) builder.later(() => builder.replaceState(withoutOutputsIn(builder.state, turn)));
  if (activity.status === 'Compensating') return undoNext(builder, path);
  if (isRemote(builder.node(path))) return lateUndone(builder, path, closing);
  if (activity.status === 'Canceling') return isUndoing(builder, path) ? undoNext(builder, path) : childrenClosed(builder, path);
  if (activity.status === 'Faulting' && activity.handling) return handled(builder, path, child, closing);
  if (activity.status === 'Faulting' && !activity.awaitsPerson) return childrenClosed(builder, path);

  const node = builder.node(path);
  const behavior = builder.behavior(path);
  // The condition of a loop is evaluated in the turn that closed, so that it can read the outputs of that turn.
  const context = behavior.repeats ? builder.context(path, child) : builder.context(path);
  if (closing.result !== 'Faulted') return builder.apply(path, behavior.childClosed?.(node, activity.local, closing, context));
  if (isRetried(builder, path, closing.fault)) {
    builder.fact({ type: 'RunFailed', path, attempt: (activity.local as { attempt?: number }).attempt ?? 1, fault: closing.fault });
    return builder.apply(path, behavior.childFaulted?.(node, activity.local, closing.fault, context));
  }
  builder.fact({ type: 'ActivityFaulting', path, child });
  fail(builder, path, closing.fault);
}

function lateUndone(builder: TransitionBuilder, path: string, closing: Closing): void {
  if (closing.result === 'Compensated' && !restartedAfterReplacing(builder, path)) builder.close(path, { result: 'Canceled' });
}

/** Closes a composite whose handler has ended. The order continues behind it; a fault inside the handler propagates further up. */
function handled(builder: TransitionBuilder, path: string, child: string, closing: Closing): void {
  // When branches close in the same instant, the last one is reported only after the handler has started.
  if (!builder.node(path).faultHandlers?.some((handler) => `${path}/${handler.do.name}` === child)) return;
  builder.close(path, closing.result === 'Faulted' || closing.result === 'Canceled' ? closing : succeeded());
}

function finish(builder: TransitionBuilder, closing: Closing): void {
  // A called order passes an unhandled fault to its caller, after it has undone all its work.
  if (closing.result === 'Faulted') builder.set({ ending: { outcome: 'compensated', fault: closing.fault } });
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
  for (const [path, { local, reply }] of Object.entries(builder.state.activities)) {
    const { phase, mode, completeBy } = (local ?? {}) as Partial<StepState>;
    const isOutstanding = phase === 'requested' && !reply && (completeBy ?? 0) > builder.event.at;
    if (isRemote(builder.node(path)) && isOutstanding && mode !== 'undo' && mode !== 'cancel')
      requestCancel(builder, path, local as StepState);
  }
  builder.end('terminated');
}

/** Cancels all open activities. After the root has closed, `finish` undoes all completed work. */
export function endOrder(builder: TransitionBuilder, outcome: 'canceled' | 'compensated'): void {
  builder.set({ ending: { outcome } });
  if (builder.activity(rootPath)) cancel(builder, rootPath);
  else finish(builder, { result: 'Canceled' });
  builder.drain();
}

/** Undoes a completed order for its caller. */
export function compensateForCaller(builder: TransitionBuilder): void {
  const { outcome: _, ...state } = builder.state;
  builder.replaceState({ ...state, phase: 'running', compensatedByCaller: true, ending: { outcome: 'compensated' } });
  finish(builder, { result: 'Canceled' });
  builder.drain();
}
