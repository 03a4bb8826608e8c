import { firstGenerationOf } from '#core/data/ids';
import type { Skip } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { succeeded } from './behavior.ts';
import { answerCanceled, leaveUnknown } from './cancellation.ts';
import { close } from './closing.ts';
import { undoFormer } from './compensation.ts';
import { isInRetry, withMemo } from './memory.ts';
import { requestCancel } from './requests.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { noteDone } from './undo-list.ts';

/** Skips an activity. A step at work is canceled first. An activity that has not begun is closed when it would begin. */
export function skip(builder: TransitionBuilder, path: string, given: Skip): void {
  const activity = builder.activity(path);
  const step = builder.stepAt(path);
  const isRequested = step !== undefined && step.mode === undefined && step.attempt > 0;
  const isCanceled = isRequested && activity?.status === 'Executing';
  const generation = isCanceled ? { generation: step.generation + 1 } : {};
  builder.set({ skips: { ...builder.state.skips, [path]: { ...given, ...generation } } });
  if (isCanceled) cancelToSkip(builder, path, step);
  else closeSkips(builder);
}

/** Cancels a step, and undoes what it did. Its next start then closes it without a request. */
function cancelToSkip(builder: TransitionBuilder, path: string, local: StepState): void {
  const { reply } = builder.activity(path) ?? {};
  const canceled = { ...local, mode: 'cancel', phase: 'requested', replacesFormer: true } as const;
  const isOpen = local.phase === 'requested' && local.completeBy > builder.event.at;
  // A reply that came while the order was blocked or suspended is applied when the order continues.
  builder.patch(path, { local: canceled });
  if (isOpen && !reply) return requestCancel(builder, path, local);
  if (builder.state.phase !== 'running') return;
  if (!reply) return leaveUnknown(builder, path, canceled);
  builder.setLocal(path, canceled);
  answerCanceled(builder, path, reply);
}

/** Closes the open activities that are to be skipped. A step that must be canceled, confirmed or undone first stays open. */
export function closeSkips(builder: TransitionBuilder): void {
  if (builder.state.phase !== 'running') return;
  for (const [path, given] of Object.entries(builder.state.skips ?? {})) {
    const activity = builder.activity(path);
    if (!activity || activity.status === 'Canceling' || builder.stepAt(path)?.mode) continue;
    if (activity.reply?.status === 'succeeded') continue;
    const { awaitsPerson, fault, reply, ...open } = activity;
    if (awaitsPerson) builder.put(path, { ...open, status: 'Executing' });
    closeSkipped(builder, path, given);
  }
}

/** Closes an activity with the output that somebody gave. The work of an earlier run is undone first, unless it is kept. */
export function closeSkipped(builder: TransitionBuilder, path: string, given: Skip): void {
  const { effect, output } = given;
  if (!builder.activity(path)) builder.put(path, { status: 'Executing' });
  const remote = isRemote(builder.node(path));
  if (remote && effect !== 'kept' && !builder.stepAt(path) && undoFormer(builder, path)) return;
  builder.fact({ type: 'ActivitySkipped', path, effect });
  if (remote && effect !== 'kept') noteSkipped(builder, path, given);
  close(builder, path, succeeded(output ?? null));
}

/** Records a skipped step: what was done by hand can be undone, and a retry does not request the step again. */
function noteSkipped(builder: TransitionBuilder, path: string, { effect, output = null, generation: given }: Skip): void {
  const memo = builder.state.memos?.[path];
  const step = builder.stepAt(path);
  const before = step?.generation ?? memo?.generation;
  const isGone = memo?.outcome === 'undone' || memo?.outcome === 'refused';
  // A refused or undone effect has used its generation, so the work by hand gets the next one.
  const generation = given ?? (before === undefined ? firstGenerationOf(builder.subject) : step || !isGone ? before : before + 1);
  const local = { generation, attempt: step?.attempt ?? memo?.attempt ?? 0 };
  if (effect === 'done') {
    const { at, epoch } = builder.event;
    builder.setStep(path, { ...local, epoch, since: at, completeBy: at, phase: 'unknown' });
    return noteDone(builder, path, builder.step(path), output);
  }
  builder.setLocal(path, undefined);
  const { undo = [] } = builder.state;
  if (undo.some((entry) => entry.path === path)) builder.set({ undo: undo.filter((entry) => entry.path !== path) });
  if (isInRetry(builder.program, builder.state, path))
    builder.replaceState(withMemo(builder.program, builder.state, path, { ...local, outcome: 'done', output }));
}
