import { inputChanged } from '#core/activities/step';
import type { Fault } from '#core/data/fault';
import { stepOfUndo, undoPathOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { State, UndoEntry } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { isRemote, rootPath } from '#core/definition/definition';
import { type Program, parentOf, stepAt } from '#core/definition/program';
import { close, restart } from './closing.ts';
import { beginCompensating, beginImpossibleUndo } from './confirmation.ts';
import { handlerAround } from './fault-routing.ts';
import { sendRequests } from './requests.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { isKnownDone, noteDone, noteRefused, noteUndone } from './undo-list.ts';
import { isWithin, pageIn, type Reach, reaches, undoneScope } from './undo-pages.ts';

/** Undoes the newest work left in the scope that the activity at this path undoes. If none is left, that activity continues. */
export function undoNext(builder: TransitionBuilder, path: string): void {
  const scope = undoneScope(builder.activity(path));
  const entry = scope === undefined ? undefined : newestOf(builder, { scope, own: ownOf(builder, path, scope) });
  if (entry === 'not known yet') return;
  if (!entry) return nothingLeft(builder, path, scope);
  // Another activity already undoes or confirms this step. When that activity closes, `continueUndoing` calls this function again.
  const openStep = entry.path !== path && isRemote(builder.node(entry.path)) ? builder.activity(entry.path) : undefined;
  if (openStep ?? builder.activity(undoPathOf(entry.path))) return;
  if (!isKnownDone(entry)) return confirmBeforeUndo(builder, entry, path);
  undo(builder, entry, path);
}

/**
 * Returns the handler around the activity that undoes this scope, if the handler is inside the scope. The handler's own work is not undone.
 */
function ownOf(builder: TransitionBuilder, path: string, scope: string): string | undefined {
  const handler = handlerAround(builder, path);
  return handler !== undefined && isWithin(handler, scope) ? handler : undefined;
}

/** Returns the newest undo entry in reach, from the state or from a page, which may have to be loaded first. `from`: the page of an entry. */
function newestOf(builder: TransitionBuilder, reach: Reach): UndoEntry | undefined | 'not known yet' {
  const entry = (builder.state.undo ?? []).findLast((each) => reaches(reach, each));
  if (!builder.state.pagedUndo || (entry && entry.from === undefined)) return entry;
  const found = pageIn(builder.state, reach, Math.max(floorOf(builder, reach.scope), entry?.from ?? 0), builder.pages);
  if ('needs' in found) {
    builder.need(found.needs);
    return 'not known yet';
  }
  builder.state = found.state;
  return found.hasEntries ? builder.state.undo?.findLast((each) => reaches(reach, each)) : entry;
}

/**
 * Returns the newest page from before the scope began: that page and all older ones hold no entry of the scope. Only an open activity has
 * this number in its state. A closed scope takes that of the innermost open activity around it, which started earlier.
 */
function floorOf(builder: TransitionBuilder, scope: string): number {
  for (let at: string | undefined = scope; at !== undefined; at = parentOf(at)) {
    const activity = builder.activity(at);
    if (activity) return activity.above ?? 0;
  }
  return 0;
}

/** Continues every activity that undoes a scope and waited until another activity had undone a part of it. */
export function continueUndoing(builder: TransitionBuilder): void {
  for (const path of Object.keys(builder.state.activities)) {
    if (isIdle(builder, path)) builder.jobs.later({ do: 'undoNextIfIdle', path });
  }
}

export const isIdle = (builder: TransitionBuilder, path: string): boolean => isUndoing(builder, path) && !builder.hasChildren(path);

/** Whether an activity undoes a scope. Such an activity continues until no work is left, even if it is canceled meanwhile. */
export const isUndoing = (builder: TransitionBuilder, path: string): boolean => undoneScope(builder.activity(path)) !== undefined;

function nothingLeft(builder: TransitionBuilder, path: string, scope: string | undefined): void {
  if (scope === rootPath && builder.node(path).activity === 'compensate') compensatedByHandler(builder, path);
  const { ending } = builder.state;
  const activity = builder.activity(path);
  if (!activity) return;
  if (activity.status === 'Compensating' && ending) return builder.end(ending.fault && !builder.state.undone ? 'rejected' : ending.outcome);
  if (activity.status === 'Canceling') return close(builder, path, { result: 'Canceled' });
  if (activity.resumes) return scopeUndone(builder, path);
  if (builder.behavior(path).undone) builder.jobs.next({ do: 'undone', path });
  else close(builder, path, { result: 'Succeeded' });
}

/** Continues an activity that is to go on at a target inside it (`resumes`): the scope that it had to undo first has no work left. */
function scopeUndone(builder: TransitionBuilder, path: string): void {
  builder.patch(path, { local: {} });
  builder.jobs.next({ do: 'resume', path });
}

function compensatedByHandler(builder: TransitionBuilder, path: string): void {
  const { caught } = builder.context(path);
  builder.set({ compensated: true, ...(caught ? { cause: caught } : {}) });
}

function undo(builder: TransitionBuilder, { path, generation, fault }: UndoEntry, parent: string): void {
  const node = builder.node(path);
  if (!node.undo) return;
  const at = undoPathOf(path);
  builder.put(at, { status: 'Executing', parent });
  if (fault) return begin(builder, at, beginImpossibleUndo(generation, fault, builder.context(at)));
  begin(builder, at, beginCompensating(node.undo, { mode: 'undo', generation, attempt: 1 }, builder.context(at)));
}

/** Begins an undo or a confirmation. Size limits do not apply to them. */
function begin(builder: TransitionBuilder, path: string, next: Parameters<typeof sendRequests>[2] & { readonly state?: StepState }): void {
  builder.setLocal(path, next.state);
  sendRequests(builder, path, next);
}

/**
 * Asks the agent whether the step was done: by the lookup of the operation, or else by another request under the same key. If the step
 * was done, the agent answers that request as it answered the first one. If the agent refuses it, the step was not done.
 */
function confirmBeforeUndo(builder: TransitionBuilder, { path, generation, attempt = 1, until }: UndoEntry, parent: string): void {
  builder.put(path, { status: 'Executing', parent });
  confirm(builder, path, { generation, attempt, ...(until === undefined ? {} : { until }) });
}

/** Confirms the outcome of a step. A canceled step is still open, and confirms its own outcome. */
export function confirm(
  builder: TransitionBuilder,
  path: string,
  { attempt, ...given }: Omit<Parameters<typeof beginCompensating>[1], 'mode'>,
): void {
  const node = builder.node(path);
  if (!isRemote(node)) return;
  begin(builder, path, beginCompensating(node, { ...given, mode: 'confirm', attempt: attempt + 1 }, builder.context(path)));
}

/**
 * Replaces the effect of an earlier run that had another input. The earlier effect is confirmed and undone first. Then
 * the step starts again (see `restartAfterReplacing`). Returns a fault if the earlier effect has no undo.
 */
export function replaceFormer(builder: TransitionBuilder, path: string): Fault | undefined {
  const local = builder.step(path);
  const { outcome, input: formerInput, until } = builder.state.memos?.[path] ?? {};
  if (outcome === 'open') {
    confirm(builder, path, { ...local, until, replacesFormer: true, input: formerInput });
    return undefined;
  }
  const entry = builder.state.undo?.find((each) => each.path === path);
  builder.setStep(path, entry ? { ...local, mode: 'cancel', phase: 'undoing', replacesFormer: true } : { ...local, attempt: 0 });
  if (!entry) return inputChanged(path);
  undo(builder, entry, path);
  return undefined;
}

/**
 * Begins to undo the effect of an earlier run of a step, or to find out whether there is one. Returns false if the undo list has no entry
 * of the step.
 */
export function undoFormer(builder: TransitionBuilder, path: string): boolean {
  const entry = builder.state.undo?.find((each) => each.path === path);
  if (!entry) return false;
  const { generation, attempt = 1, until, requestInput: input } = entry;
  const { at, epoch } = builder.event;
  if (!isKnownDone(entry)) confirm(builder, path, { generation, attempt, until, replacesFormer: true, input });
  else {
    const former = { generation, attempt, epoch, since: at, completeBy: at, replacesFormer: true } as const;
    builder.setStep(path, { ...former, mode: 'cancel', phase: 'undoing' });
    undo(builder, entry, path);
  }
  return true;
}

/**
 * Restarts a step with its present input after its earlier effect is gone, unless the step was canceled meanwhile. Returns whether it was
 * restarted.
 */
export function restartAfterReplacing(builder: TransitionBuilder, path: string): boolean {
  if (!builder.step(path).replacesFormer || builder.activity(path)?.status !== 'Executing') return false;
  restart(builder, path);
  return true;
}

/** Undoes a step that turned out to be done after its cancellation. The step stays open until it is undone. */
export function undoLate(builder: TransitionBuilder, path: string, local: StepState, output: Json): void {
  noteDone(builder, path, local, output);
  const entry = builder.state.undo?.find((each) => each.path === path);
  // The condition of the rule that might have given the step an undo was false.
  if (!entry) return restartAfterReplacing(builder, path) ? undefined : close(builder, path, { result: 'Canceled' });
  builder.setStep(path, { ...local, mode: 'cancel', phase: 'undoing' });
  undo(builder, entry, path);
}

/** Returns the steps whose undo keeps failing, or whose outcome cannot be confirmed. */
export const failingUndos = (program: Program, state: State): readonly string[] => failingWork(program, state).map(stepOfUndo);

/** Returns the paths of undos and of confirmations that have failed and are requested again. */
export const failingWork = (program: Program, state: State): readonly string[] =>
  Object.keys(state.activities).filter((path) => {
    const step = stepAt(program, state, path);
    return step?.failed && !state.activities[path]?.marked && (step.mode === 'undo' || step.mode === 'confirm');
  });

/**
 * Ends an undo, or the confirmation of an outcome, that keeps failing: a person has undone the step, or it needs no undo. A suspended
 * order keeps the mark until it is resumed.
 */
export function markCompensated(builder: TransitionBuilder, path: string): void {
  const undoPath = undoPathOf(path);
  const at = builder.stepAt(undoPath)?.mode === 'undo' ? undoPath : path;
  if (at === path && builder.stepAt(path)?.mode !== 'confirm') return;
  if (builder.activity(at)?.marked) return;
  builder.fact({ type: 'MarkedCompensated', path });
  if (builder.state.phase === 'suspended') builder.patch(at, { marked: true });
  else endMarked(builder, at);
}

/** Ends an undo, or a confirmation, that a person has marked. */
export function endMarked(builder: TransitionBuilder, at: string): void {
  const step = builder.step(at);
  if (step.mode === 'undo') {
    noteUndone(builder, at);
    return close(builder, at, { result: 'Compensated' });
  }
  noteRefused(builder, at, step);
  if (!restartAfterReplacing(builder, at)) close(builder, at, { result: 'Canceled' });
}
