import { stepOf } from '#core/activities/index';
import type { StepReply } from '#core/data/event';
import type { StepState } from '#core/data/step-state';
import { leaveUnknown } from './cancellation.ts';
import { runJobs } from './jobs.ts';
import { endWait } from './lateness.ts';
import { isDefiniteRefusal } from './step-replies.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { apply } from './verbs.ts';

/** Wakes each activity whose timer may be over: a delay, a retry, a wait with a time limit, a pause. */
export function wakeAll(builder: TransitionBuilder): void {
  for (const path of Object.keys(builder.state.activities)) wake(builder, path);
}

function wake(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || !builder.continues()) return;
  const step = builder.stepAt(path);
  if (activity.waitsUntil !== undefined && !step?.mode) {
    if (!isPausing(builder, path) && !activity.awaitsPerson) repeat(builder, path);
  } else if (step?.mode === 'cancel') {
    if (step.phase === 'requested' && builder.event.at >= step.completeBy) leaveUnknown(builder, path, step);
  } else if (activity.status === 'Executing' || step?.mode) {
    apply(builder, path, builder.behavior(path).woken?.(builder.node(path), activity.local, builder.context(path)));
  }
  runJobs(builder);
}

/** Repeats each open step for which `isDue` is true, unless the step waits for a person. */
export function repeatWhere(builder: TransitionBuilder, isDue: (local: StepState) => boolean): void {
  for (const [path, activity] of Object.entries(builder.state.activities)) {
    const step = stepOf(builder.node(path), activity);
    if (!step || activity.reply) continue;
    if (builder.event.type === 'expired' && isPausing(builder, path)) continue;
    if (builder.continues() && builder.activity(path) && !builder.activity(path)?.awaitsPerson && isDue(step)) repeat(builder, path);
  }
}

/** Whether an activity is still in its pause. The pause of a step ends at the latest with the time for all its attempts. */
function isPausing(builder: TransitionBuilder, path: string): boolean {
  const { limit = Infinity } = builder.stepAt(path) ?? {};
  return Math.min(builder.activity(path)?.waitsUntil ?? 0, limit) > builder.event.at;
}

/** After a new claim, repeats every step that the former claim left open, under the same idempotency keys. */
export function reclaim(builder: TransitionBuilder): void {
  repeatWhere(builder, ({ epoch, mode }) => epoch !== builder.event.epoch && mode !== 'cancel');
  if (builder.state.phase === 'running') wakeAll(builder);
}

/**
 * Executes an activity again. `recorded` is the reply that arrived while the order was blocked: after a definite refusal
 * the next attempt is a new effect.
 */
export function repeat(builder: TransitionBuilder, path: string, recorded?: StepReply): void {
  endWait(builder, path);
  const behavior = builder.behavior(path);
  const node = builder.node(path);
  const refused = recorded !== undefined && isDefiniteRefusal(recorded);
  const local = refused ? { ...builder.step(path), phase: 'refused' } : builder.local(path);
  const context = builder.context(path);
  apply(builder, path, local === undefined ? behavior.execute(node, context) : behavior.repeat?.(node, local, context));
  runJobs(builder);
}
