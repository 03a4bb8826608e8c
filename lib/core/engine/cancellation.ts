import type { StepReply } from '#core/data/event';
import { attemptIdOf } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { declaresObjects } from '#core/recovery/object-names';
import { close } from './closing.ts';
import { confirm, restartAfterReplacing, undoLate } from './compensation.ts';
import { isRunToConfirm, possibleUntil } from './confirmation.ts';
import { requestCancel } from './requests.ts';
import { faultIn, isDefiniteRefusal } from './step-replies.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { canBeUndone, noteDone, noteRefused, noteUnknown } from './undo-list.ts';

/** Cancels an activity and everything inside it. An undo and a confirmation continue to their end. */
export function cancel(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || activity.status === 'Canceling' || activity.status === 'Compensating') return;
  const node = builder.node(path);
  if (isRemote(node)) return cancelStep(builder, path);
  // A child that is about to start may be the one that cleans up. The cancellation waits until that child is open, or it would never start.
  if (builder.behavior(path).cancel && builder.jobs.isStarting(path)) return builder.jobs.later({ do: 'cancel', path });

  const cleanUp =
    activity.status === 'Executing' && !activity.resumes
      ? builder.behavior(path).cancel?.(node, activity.local, builder.context(path))
      : undefined;
  builder.canceling(path);
  if (cleanUp) builder.patch(path, { cleanUp: cleanUp.run });
  cancelChildren(builder, path);
}

/** Cancels all open children. The activity continues when the last of them has closed. */
export function cancelChildren(builder: TransitionBuilder, path: string): void {
  const children = builder.children(path);
  // An activity that cleans up is not interrupted.
  if (!builder.activity(path)?.cleaning) for (const child of children) cancel(builder, child);
  if (children.length === 0) builder.jobs.later({ do: 'childrenClosed', path });
}

/** Cancels a step and tells its agent. The step stays open until its reply or its deadline, because a completed step must be undone. */
function cancelStep(builder: TransitionBuilder, path: string): void {
  const local = builder.stepAt(path);
  const { reply } = builder.activity(path) ?? {};
  // An undo and a confirmation continue to their end. A step that replaces an earlier effect becomes Canceling, so that it does not start
  // again.
  if (local?.mode && !local.replacesFormer) return;
  builder.canceling(path);
  if (local?.mode) return;
  if (!local || local.attempt === 0) return close(builder, path, { result: 'Canceled' });
  if (reply) return answerCanceled(builder, path, reply);
  if (local.phase === 'requested' && local.completeBy > builder.event.at) {
    builder.setStep(path, { ...local, mode: 'cancel', phase: 'requested' });
    return requestCancel(builder, path, local);
  }
  if (local.phase === 'refused') return closeRefused(builder, path, local);
  leaveUnknown(builder, path, local);
}

function closeRefused(builder: TransitionBuilder, path: string, local: StepState): void {
  noteRefused(builder, path, local);
  closeCanceled(builder, path);
}

/** Closes a canceled step, unless it starts again because its effect is replaced (see `replaceFormer`). */
function closeCanceled(builder: TransitionBuilder, path: string): void {
  if (!restartAfterReplacing(builder, path)) close(builder, path, { result: 'Canceled' });
}

/** Handles the reply to a canceled step. A completed step is undone before it closes. */
export function answerCanceled(builder: TransitionBuilder, path: string, reply: StepReply): void {
  const local = builder.step(path);
  if (reply.status === 'succeeded') {
    const node = builder.node(path);
    const hasObjects = isRemote(node) && declaresObjects(node);
    builder.fact({ type: 'LateResult', path, attemptId: attemptIdOf(local), ...(hasObjects ? { output: reply.output } : {}) });
    if (canBeUndone(builder, path)) return undoLate(builder, path, local, reply.output);
    noteDone(builder, path, local, reply.output);
    return closeCanceled(builder, path);
  }
  if (isDefiniteRefusal(reply)) return closeRefused(builder, path, local);
  const node = builder.node(path);
  const isRerun = canBeUndone(builder, path) && isRemote(node) && isRunToConfirm(node);
  if (isRerun && local.mode === 'cancel' && local.completeBy > builder.event.at) return waitForCompleteBy(builder, path, local, reply);
  leaveUnknown(builder, path, local);
}

/** Keeps a canceled step open until its deadline: the service may still be working, so the operation must not be run again earlier. */
function waitForCompleteBy(builder: TransitionBuilder, path: string, local: StepState, reply: StepReply): void {
  if (local.agentStopped) return;
  if (reply.status !== 'succeeded') builder.fact({ type: 'AttemptFailed', path, attemptId: attemptIdOf(local), fault: faultIn(reply) });
  builder.setStep(path, { ...local, agentStopped: true });
}

/**
 * Waits no longer for the reply of a canceled step: its deadline has passed, or its reply is inconclusive. If the step has an undo, its
 * outcome is confirmed next.
 */
export function leaveUnknown(builder: TransitionBuilder, path: string, local: StepState): void {
  const node = builder.node(path);
  if (canBeUndone(builder, path) && isRemote(node)) return confirm(builder, path, { ...local, until: possibleUntil(node, local) });
  builder.fact({ type: 'OutcomeUnknown', path, attemptId: attemptIdOf(local) });
  noteUnknown(builder, path, local);
  closeCanceled(builder, path);
}
