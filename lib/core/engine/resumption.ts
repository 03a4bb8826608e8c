import type { Skip } from '#core/data/state';
import { awaitsReply, type StepState } from '#core/data/step-state';
import { blockOrContinue, noAnswerTo, unblock } from './blocking.ts';
import { cancel } from './cancellation.ts';
import { endOrder, keepCause } from './ending.ts';
import { runJobs } from './jobs.ts';
import { forgetLate } from './lateness.ts';
import { repeat, repeatWhere, wakeAll } from './repetition.ts';
import { answer, answerRecorded } from './reply.ts';
import { deliverSignals } from './signal.ts';
import { closeSkips, skip } from './skipping.ts';
import { endSuspension } from './suspension.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * Repeats the failed activity first, unless a late success has arrived. Then come the replies and signals recorded meanwhile, and
 * then the expired steps. If the activity fails again at once, the others still run as far as they can before the order
 * is blocked again.
 */
export function resubmit(builder: TransitionBuilder, path: string, completeWithinSeconds: number | undefined): void {
  forgetLate(builder);
  const failed = builder.activity(path);
  const mode = builder.stepAt(path)?.mode;
  unblock(builder, path, completeWithinSeconds);
  builder.continuesWhileBlocked = true;
  if (failed?.awaitsPerson && failed.reply?.status === 'succeeded') answer(builder, path, failed.reply);
  else if (failed?.awaitsPerson || (!failed?.reply && (mode === 'undo' || mode === 'confirm'))) repeat(builder, path, failed?.reply);

  continueAll(builder, (local) => isToRepeat(builder, local));
}

/** Whether an open request has expired, or belongs to an earlier claim. */
export const isToRepeat = ({ event: { at, epoch } }: TransitionBuilder, local: StepState): boolean =>
  !local.mode && awaitsReply(local) && (local.completeBy <= at || local.epoch !== epoch);

/** Skips the activity that blocks the order, and continues the order. */
export function skipBlocked(builder: TransitionBuilder, path: string, given: Skip): void {
  forgetLate(builder);
  builder.set({ skips: { ...builder.state.skips, [path]: given } });
  unblock(builder, path);
  builder.continuesWhileBlocked = true;
  const step = builder.stepAt(path);
  // The step was done after all: what it did is undone first.
  if (step && builder.activity(path)?.reply?.status === 'succeeded') skip(builder, path, given);
  continueAll(builder, (local) => isToRepeat(builder, local));
}

/**
 * Resumes a suspended order. It requests no overdue step again: the supervisor counts such a step, and then sends the event that repeats
 * the request.
 */
export function resume(builder: TransitionBuilder): void {
  endSuspension(builder);
  builder.continuesWhileBlocked = true;
  continueAll(builder, () => false);
}

/**
 * Closes what is to be skipped, applies the recorded replies and signals, repeats open requests, and wakes the activities that are due.
 * Then the order blocks again if an activity still has a fault that nothing handles.
 */
export function continueAll(builder: TransitionBuilder, isRequestedAgain: (local: StepState) => boolean): void {
  closeSkips(builder);
  runJobs(builder);
  answerRecorded(builder);
  deliverSignals(builder);
  repeatWhere(builder, isRequestedAgain);
  if (builder.state.phase === 'running') wakeAll(builder);
  builder.continuesWhileBlocked = false;
  blockOrContinue(builder);
}

/** Ends the order, and gives up its blocked activity first. `late`: the overdue step because of which the order ends. */
export function endFromOutside(builder: TransitionBuilder, outcome: 'canceled' | 'compensated', late?: string): void {
  endSuspension(builder);
  forgetLate(builder);
  const { blocked } = builder.state;
  keepCause(builder, late === undefined ? blocked?.fault : noAnswerTo(builder, late));
  givingUpBlocked(builder, () => endOrder(builder, outcome));
}

/**
 * Ends the block of an order whose open work is given up. Replies that came during the block are applied: the work that they report is
 * undone.
 */
export function givingUpBlocked(builder: TransitionBuilder, giveUp: () => void): void {
  const { blocked, activities } = builder.state;
  const waiting = Object.keys(activities).filter((path) => activities[path]?.awaitsPerson);
  if (blocked) unblock(builder, blocked.path);
  const given = new Map(waiting.map((path) => [path, builder.activity(path)]));
  giveUp();
  runJobs(builder);
  // An activity that cleans up continues, but without the steps that waited for a person.
  for (const [path, activity] of given) if (builder.activity(path) === activity) cancel(builder, path);
  runJobs(builder);
  answerRecorded(builder);
  deliverSignals(builder);
}
