import { beginConfirming, beginImpossible, inputChanged, possibleUntil, type StepState } from '#core/activities/step';
import { firstGenerationOf, undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { State, UndoEntry } from '#core/data/state';
import { isRemote, rootPath } from '#core/definition/definition';
import { fingerprint } from '#core/definition/fingerprint';
import { fill, inputOf, parentOf, partRead, scopeOf } from '#core/definition/program';
import { raise, type StepMemo } from './behavior.ts';
import { isRetried, withMemo } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { isWithin, pageIn, type Reach, reaches } from './undo-pages.ts';

/** Records a completed step with everything its undo needs. The undo list runs newest first (WSEHF, SAS). */
export function noteDone(builder: TransitionBuilder, path: string, { generation, attempt }: StepState, output: Json | undefined): void {
  if (isRetried(builder.program, builder.state, path)) {
    const input = inputOf(builder.program, builder.subject, builder.state, path);
    const inputHash = input.ok ? { inputHash: fingerprint(input.value) } : {};
    recordMemo(builder, path, { generation, attempt, outcome: 'done', ...inputHash, ...(output === undefined ? {} : { output }) });
  }
  const input = undoInput(builder, path, output ?? null);
  if (input === undefined) return;
  const others = (builder.state.undo ?? []).filter((entry) => entry.path !== path);
  builder.set({ undo: [...others, { path, generation, ...input }] });
}

/** Records a composite that has an undo. It is undone as a whole, so the undo entries of its parts are dropped. */
export function noteWhole(builder: TransitionBuilder, path: string): void {
  const input = undoInput(builder, path, null);
  if (input === undefined) return;
  const { undo = [] } = builder.state;
  // A retry repeated the composite, but did none of its steps again: the entry keeps its place in the order.
  if (undo.some((entry) => entry.path === path) && !undo.some((entry) => isWithin(entry.path, path) && isKnownDone(entry))) return;
  const { outcome, generation = firstGenerationOf(builder.subject) } = builder.state.memos?.[path] ?? {};
  const memo = { generation: outcome === 'undone' ? generation + 1 : generation, attempt: 1, outcome: 'done' } as const;
  recordMemo(builder, path, memo);
  // Entries with an unknown outcome stay. They must still be confirmed.
  const others = (builder.state.undo ?? []).filter((entry) => entry.path !== path && !(isWithin(entry.path, path) && isKnownDone(entry)));
  builder.set({ undo: [...others, { path, generation: memo.generation, ...input }] });
}

/** Records a step with an unknown outcome. It is confirmed before anything in its scope is undone. */
export function noteUnknown(builder: TransitionBuilder, path: string, local: StepState): void {
  const { generation, attempt } = local;
  // The input is stored now: when it is needed, the turn or the handler of this step may be gone.
  const input = inputOf(builder.program, builder.subject, builder.state, path);
  const requestInput = input.ok ? { requestInput: input.value } : {};
  const node = builder.node(path);
  const until = isRemote(node) ? { until: local.until ?? possibleUntil(node, local) } : {};
  recordMemo(builder, path, { generation, attempt, outcome: 'open', ...(input.ok ? { input: input.value } : {}), ...until });
  if (!canBeUndone(builder, path)) return;
  const others = (builder.state.undo ?? []).filter((entry) => entry.path !== path);
  builder.set({ undo: [...others, { path, generation, attempt, ...requestInput, ...until, ...readsOfUndo(builder, path) }] });
}

/** Records that the step was definitely not done. A later run of it is a new effect. */
export function noteRefused(builder: TransitionBuilder, path: string, { generation, attempt }: StepState): void {
  recordMemo(builder, path, { generation, attempt, outcome: 'refused' });
  const { undo = [] } = builder.state;
  if (undo.some((entry) => entry.path === path)) builder.set({ undo: undo.filter((entry) => entry.path !== path) });
}

const recordMemo = (builder: TransitionBuilder, path: string, memo: StepMemo): void =>
  builder.replaceState(withMemo(builder.program, builder.state, path, memo));

export const canBeUndone = (builder: TransitionBuilder, path: string): boolean => builder.node(path).undo !== undefined;

/** Whether the step is known to be done. Its undo may still be impossible. */
const isKnownDone = ({ input, fault }: UndoEntry): boolean => input !== undefined || fault !== undefined;

/** Evaluates the input of an undo at once, so that the values it reads need not be kept. Undefined without an undo. */
export function undoInput(builder: TransitionBuilder, path: string, output: Json): Pick<UndoEntry, 'input' | 'fault'> | undefined {
  const node = builder.node(path);
  if (!node.undo) return undefined;
  const scope = {
    ...scopeOf(builder.program, builder.subject, builder.state, path),
    ...builder.state.undo?.find((each) => each.path === path)?.reads,
  };
  const filled = fill(node.undo.input, { ...scope, steps: { ...scope.steps, [node.name]: output } });
  return filled.ok ? { input: filled.value } : { fault: filled.fault };
}

/** Returns the values of other activities that an undo reads. When the outcome is known, they may have changed or be gone. */
function readsOfUndo(builder: TransitionBuilder, path: string): Pick<UndoEntry, 'reads'> {
  const { undo, name } = builder.node(path);
  const scope = scopeOf(builder.program, builder.subject, builder.state, path);
  const before = builder.state.undo?.find((each) => each.path === path)?.reads;
  const reads = undo && (before ?? partRead(undo.input, scope, name));
  return reads && Object.keys(reads).length > 0 ? { reads } : {};
}

/** Undoes the newest work left in the scope of the activity at this path. If none is left, that activity continues. */
export function undoNext(builder: TransitionBuilder, path: string): void {
  const { scope } = builder.local(path) as { readonly scope: string };
  // A handler does not undo its own work. An outer scope may undo it later.
  const entry = newestOf(builder, { scope, own: builder.handlerAround(path) });
  if (entry === 'not known yet') return;
  if (!entry) return nothingLeft(builder, path, scope);
  // Another activity already undoes or confirms this step. When that closes, `continueUndoing` calls this function
  // again.
  const asked = entry.path !== path && isRemote(builder.node(entry.path)) ? builder.activity(entry.path) : undefined;
  if (asked ?? builder.activity(`${entry.path}/undo`)) return;
  if (!isKnownDone(entry)) return confirmBeforeUndo(builder, entry, path);
  undo(builder, entry, path);
}

/** Returns the newest undo entry in reach, from the state or from a page. The page may have to be loaded first. */
function newestOf(builder: TransitionBuilder, reach: Reach): UndoEntry | undefined | 'not known yet' {
  const entry = (builder.state.undo ?? []).findLast((each) => reaches(reach, each));
  if (!builder.state.pagedUndo || (entry && entry.from === undefined)) return entry;
  const found = pageIn(builder.state, reach, Math.max(floorOf(builder, reach.scope), entry?.from ?? 0), builder.pages);
  if ('needs' in found) {
    builder.need(found.needs);
    return 'not known yet';
  }
  builder.state = found.state;
  return found.searched ? builder.state.undo?.findLast((each) => reaches(reach, each)) : entry;
}

/** Returns the page below which this scope has no entries. A scope that has closed started after the activities around it. */
function floorOf(builder: TransitionBuilder, scope: string): number {
  for (let at: string | undefined = scope; at !== undefined; at = parentOf(at)) {
    const activity = builder.activity(at);
    if (activity) return activity.above ?? 0;
  }
  return 0;
}

/** Continues every activity that undoes a scope and waited for another one to finish a part of it. */
export function continueUndoing(builder: TransitionBuilder): void {
  for (const path of Object.keys(builder.state.activities)) {
    const isIdle = () => isUndoing(builder, path) && !builder.hasChildren(path);
    if (isIdle()) builder.later(() => (isIdle() ? undoNext(builder, path) : undefined));
  }
}

/** Whether an activity undoes a scope. If it is canceled meanwhile, it still continues until no work is left. */
export const isUndoing = (builder: TransitionBuilder, path: string): boolean =>
  (builder.local(path) as { scope?: string } | undefined)?.scope !== undefined;

function nothingLeft(builder: TransitionBuilder, path: string, scope: string): void {
  if (scope === rootPath && builder.node(path).activity === 'compensate') builder.set({ compensated: true });
  const { ending } = builder.state;
  const activity = builder.activity(path);
  if (!activity) return;
  if (activity.status === 'Compensating' && ending) return builder.end(ending.fault && !builder.state.undone ? 'rejected' : ending.outcome);
  if (activity.status === 'Canceling') return builder.close(path, { result: 'Canceled' });
  const { undone } = builder.behavior(path);
  if (undone) builder.apply(path, undone(builder.node(path), activity.local, builder.context(path)));
  else builder.close(path, { result: 'Succeeded' });
}

function undo(builder: TransitionBuilder, { path, generation, fault }: UndoEntry, parent: string): void {
  const node = builder.node(path);
  if (!node.undo) return;
  const at = `${path}/undo`;
  builder.put(at, { status: 'Executing', parent });
  if (fault) return builder.apply(at, beginImpossible(generation, fault, builder.context(at)));
  builder.apply(at, beginConfirming(node.undo, { mode: 'undo', generation, attempt: 1 }, builder.context(at)));
}

/**
 * Repeats the request under the same key. If the step was done, the agent gives the same answer as then; if it refuses,
 * the step was not done.
 */
function confirmBeforeUndo(builder: TransitionBuilder, { path, generation, attempt = 1, until }: UndoEntry, parent: string): void {
  builder.put(path, { status: 'Executing', parent });
  confirm(builder, path, { generation, attempt, ...(until === undefined ? {} : { until }) });
}

/** Confirms the outcome of a step. A canceled step confirms its own outcome. */
export function confirm(
  builder: TransitionBuilder,
  path: string,
  { attempt, ...asked }: Omit<Parameters<typeof beginConfirming>[1], 'mode'>,
): void {
  const node = builder.node(path);
  if (!isRemote(node)) return;
  builder.apply(path, beginConfirming(node, { ...asked, mode: 'confirm', attempt: attempt + 1 }, builder.context(path)));
}

/**
 * Replaces the effect of an earlier run that had another input. The earlier effect is confirmed and undone first. Then
 * the step starts again (see `restartedAfterReplacing`).
 */
export function replaceFormer(builder: TransitionBuilder, path: string): void {
  const local = builder.local(path) as StepState;
  const { outcome, input: asked, until } = builder.state.memos?.[path] ?? {};
  if (outcome === 'open') return confirm(builder, path, { ...local, until, replacesFormer: true, input: asked });
  const entry = builder.state.undo?.find((each) => each.path === path);
  if (!entry) return builder.apply(path, raise(inputChanged(path), { ...local, attempt: 0 }));
  builder.setLocal(path, { ...local, mode: 'cancel', phase: 'undoing', replacesFormer: true });
  undo(builder, entry, path);
}

/** Restarts a step with its present input after its former effect is undone, unless it was canceled meanwhile. */
export function restartedAfterReplacing(builder: TransitionBuilder, path: string): boolean {
  const { replacesFormer: replaces } = builder.local(path) as StepState;
  if (!replaces || builder.activity(path)?.status !== 'Executing') return false;
  builder.restart(path);
  return true;
}

/** Undoes a step that turned out to be done after its cancellation. The step stays open until then. */
export function undoLate(builder: TransitionBuilder, path: string, local: StepState, output: Json): void {
  noteDone(builder, path, local, output);
  builder.setLocal(path, { ...local, mode: 'cancel', phase: 'undoing' });
  const entry = builder.state.undo?.find((each) => each.path === path);
  if (entry) undo(builder, entry, path);
}

/** Removes the undo entry of a step that is undone. A later run of the step is a new effect. */
export function noteUndone(builder: TransitionBuilder, undoPath: string): void {
  const path = undonePath(undoPath);
  const entry = builder.state.undo?.find((each) => each.path === path);
  builder.set({ undone: true, undo: (builder.state.undo ?? []).filter((each) => each !== entry) });
  if (!entry) return;
  recordMemo(builder, path, { generation: entry.generation, attempt: 1, outcome: 'undone' });
  // The composite is undone as a whole. The work of its parts is gone too, so a later run repeats it.
  for (const [each, memo] of Object.entries(builder.state.memos ?? {}))
    if (isWithin(each, path) && memo.outcome === 'done') recordMemo(builder, each, { ...memo, outcome: 'undone' });
}

/** Returns the steps whose undo keeps failing, or whose outcome cannot be confirmed. */
export const failingUndos = ({ activities }: State): readonly string[] =>
  Object.entries(activities).flatMap(([path, { local }]) => {
    const { mode, failed } = (local ?? {}) as Partial<StepState>;
    if (!failed) return [];
    return mode === 'undo' ? [undonePath(path)] : mode === 'confirm' ? [path] : [];
  });

/** Marks an undo that keeps failing as done by a person, or as unnecessary. */
export function markCompensated(builder: TransitionBuilder, path: string): void {
  const undoPath = `${path}/undo`;
  const local = (at: string) => builder.local(at) as StepState | undefined;
  if (local(undoPath)?.mode === 'undo') {
    builder.fact({ type: 'MarkedCompensated', path });
    noteUndone(builder, undoPath);
    return builder.close(undoPath, { result: 'Compensated' });
  }
  const confirming = local(path);
  if (confirming?.mode !== 'confirm') return;
  builder.fact({ type: 'MarkedCompensated', path });
  noteRefused(builder, path, confirming);
  if (!restartedAfterReplacing(builder, path)) builder.close(path, { result: 'Canceled' });
}
