import { beginImpossible, beginSettling, inputChanged, possibleUntil, type StepState } from '#core/activities/step';
import { firstGenerationOf, undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { State, UndoEntry } from '#core/data/state';
import { asks, rootPath } from '#core/definition/definition';
import { fingerprint } from '#core/definition/fingerprint';
import { fill, inputOf, parentOf, partRead, scopeOf } from '#core/definition/program';
import { type Known, raise } from './behavior.ts';
import { isRetried, withKnown } from './memory.ts';
import type { Draft } from './transition-builder.ts';
import { isWithin, type Reach, reaches, takeBack } from './undo-pages.ts';

/** What was done is noted when it is done, with all that its undo needs; it is undone newest first (WSEHF, SAS). */
export function noteDone(draft: Draft, path: string, { generation, attempt }: StepState, output: Json | undefined): void {
  if (isRetried(draft.program, draft.state, path)) {
    const input = inputOf(draft.program, draft.subject, draft.state, path);
    const of = input.ok ? { of: fingerprint(input.value) } : {};
    know(draft, path, { generation, attempt, outcome: 'done', ...of, ...(output === undefined ? {} : { output }) });
  }
  const input = undoInput(draft, path, output ?? null);
  if (input === undefined) return;
  const others = (draft.state.undo ?? []).filter((entry) => entry.path !== path);
  draft.set({ undo: [...others, { path, generation, ...input }] });
}

/** A composite with an undo of its own is undone as a whole: what its parts name as theirs is not needed any more. */
export function noteWhole(draft: Draft, path: string): void {
  const input = undoInput(draft, path, null);
  if (input === undefined) return;
  const { undo = [] } = draft.state;
  // A retry came by here once more, and nothing of it was done anew: it keeps its place in the order of things.
  if (undo.some((entry) => entry.path === path) && !undo.some((entry) => isWithin(entry.path, path) && isKnownDone(entry))) return;
  const { outcome, generation = firstGenerationOf(draft.subject) } = draft.state.known?.[path] ?? {};
  const known = { generation: outcome === 'undone' ? generation + 1 : generation, attempt: 1, outcome: 'done' } as const;
  know(draft, path, known);
  // What nobody knows of is still to be found out.
  const others = (draft.state.undo ?? []).filter((entry) => entry.path !== path && !(isWithin(entry.path, path) && isKnownDone(entry)));
  draft.set({ undo: [...others, { path, generation: known.generation, ...input }] });
}

/** It was asked for, and nobody knows whether it was done: that is found out before anything of its scope is undone. */
export function noteUnknown(draft: Draft, path: string, own: StepState): void {
  const { generation, attempt } = own;
  // By the time it matters its turn may be over, or its handler: it is asked again with what it was asked.
  const input = inputOf(draft.program, draft.subject, draft.state, path);
  const asked = input.ok ? { asked: input.value } : {};
  const node = draft.node(path);
  const until = asks(node) ? { until: own.until ?? possibleUntil(node, own) } : {};
  know(draft, path, { generation, attempt, outcome: 'open', ...asked, ...until });
  if (!canBeUndone(draft, path)) return;
  const others = (draft.state.undo ?? []).filter((entry) => entry.path !== path);
  draft.set({ undo: [...others, { path, generation, attempt, ...asked, ...until, ...readsOfUndo(draft, path) }] });
}

/** It is definite that it was not done. A later run of it is a new effect. */
export function noteRefused(draft: Draft, path: string, { generation, attempt }: StepState): void {
  know(draft, path, { generation, attempt, outcome: 'refused' });
  const { undo = [] } = draft.state;
  if (undo.some((entry) => entry.path === path)) draft.set({ undo: undo.filter((entry) => entry.path !== path) });
}

const know = (draft: Draft, path: string, known: Known): void => draft.remember(withKnown(draft.program, draft.state, path, known));

export const canBeUndone = (draft: Draft, path: string): boolean => draft.node(path).undo !== undefined;

/** Whether it was done is known; how it is undone may not be. */
const isKnownDone = ({ input, fault }: UndoEntry): boolean => input !== undefined || fault !== undefined;

/** Evaluated at once: nothing that it reads need be kept. Undefined where there is no undo. */
export function undoInput(draft: Draft, path: string, output: Json): Pick<UndoEntry, 'input' | 'fault'> | undefined {
  const node = draft.node(path);
  if (!node.undo) return undefined;
  const scope = {
    ...scopeOf(draft.program, draft.subject, draft.state, path),
    ...draft.state.undo?.find((each) => each.path === path)?.reads,
  };
  const filled = fill(node.undo.input, { ...scope, steps: { ...scope.steps, [node.name]: output } });
  return filled.ok ? { input: filled.value } : { fault: filled.fault };
}

/** By the time its outcome is known, what its undo reads of others may have changed, or be gone. */
function readsOfUndo(draft: Draft, path: string): Pick<UndoEntry, 'reads'> {
  const { undo, name } = draft.node(path);
  const scope = scopeOf(draft.program, draft.subject, draft.state, path);
  const before = draft.state.undo?.find((each) => each.path === path)?.reads;
  const reads = undo && (before ?? partRead(undo.input, scope, name));
  return reads && Object.keys(reads).length > 0 ? { reads } : {};
}

/** The newest thing that is left in the scope of whoever undoes; with nothing left, that one goes on. */
export function undoNext(draft: Draft, path: string): void {
  const { scope } = draft.own(path) as { readonly scope: string };
  // What a handler itself has done is not the work that it undoes; a scope farther out may undo it later.
  const entry = newestOf(draft, { scope, own: draft.handlerAround(path) });
  if (entry === 'not known yet') return;
  if (!entry) return nothingLeft(draft, path, scope);
  // Somebody else undoes it, or finds out whether it was done: whoever closes that wakes this one (see `goOnUndoing`).
  const asked = entry.path !== path && asks(draft.node(entry.path)) ? draft.activity(entry.path) : undefined;
  if (asked ?? draft.activity(`${entry.path}/undo`)) return;
  if (!isKnownDone(entry)) return askWhetherDone(draft, entry, path);
  undo(draft, entry, path);
}

/** In the state, or in a page that was put aside: perhaps one that must be handed in first. */
function newestOf(draft: Draft, reach: Reach): UndoEntry | undefined | 'not known yet' {
  const entry = (draft.state.undo ?? []).findLast((each) => reaches(reach, each));
  if (!draft.state.undoAside || (entry && entry.from === undefined)) return entry;
  const found = takeBack(draft.state, reach, Math.max(floorOf(draft, reach.scope), entry?.from ?? 0), draft.pages);
  if ('needs' in found) {
    draft.need(found.needs);
    return 'not known yet';
  }
  draft.state = found.state;
  return found.taken ? draft.state.undo?.findLast((each) => reaches(reach, each)) : entry;
}

/** A scope that is over was begun after whatever is around it. */
function floorOf(draft: Draft, scope: string): number {
  for (let at: string | undefined = scope; at !== undefined; at = parentOf(at)) {
    const activity = draft.activity(at);
    if (activity) return activity.above ?? 0;
  }
  return 0;
}

/** Whoever undoes something and waits for another one to be through with a part of it. */
export function goOnUndoing(draft: Draft): void {
  for (const path of Object.keys(draft.state.activities)) {
    const isIdle = () => isUndoing(draft, path) && !draft.hasChildren(path);
    if (isIdle()) draft.later(() => (isIdle() ? undoNext(draft, path) : undefined));
  }
}

/** An activity that undoes something may be canceled meanwhile: it goes on until nothing is left. */
export const isUndoing = (draft: Draft, path: string): boolean => (draft.own(path) as { scope?: string } | undefined)?.scope !== undefined;

function nothingLeft(draft: Draft, path: string, scope: string): void {
  if (scope === rootPath && draft.node(path).activity === 'compensate') draft.set({ compensated: true });
  const { ending } = draft.state;
  const activity = draft.activity(path);
  if (!activity) return;
  if (activity.status === 'Compensating' && ending) return draft.end(ending.fault && !draft.state.undone ? 'rejected' : ending.outcome);
  if (activity.status === 'Canceling') return draft.close(path, { result: 'Canceled' });
  const { undone } = draft.behavior(path);
  if (undone) draft.apply(path, undone(draft.node(path), activity.own, draft.context(path)));
  else draft.close(path, { result: 'Succeeded' });
}

function undo(draft: Draft, { path, generation, fault }: UndoEntry, runner: string): void {
  const node = draft.node(path);
  if (!node.undo) return;
  const at = `${path}/undo`;
  draft.put(at, { status: 'Executing', runner });
  if (fault) return draft.apply(at, beginImpossible(generation, fault, draft.context(at)));
  draft.apply(at, beginSettling(node.undo, { mode: 'undo', generation, attempt: 1 }, draft.context(at)));
}

/** The same asking once more, under the same key: done, it answers again what it answered then; refused, nothing was done. */
function askWhetherDone(draft: Draft, { path, generation, attempt = 1, until }: UndoEntry, runner: string): void {
  draft.put(path, { status: 'Executing', runner });
  settle(draft, path, { generation, attempt, ...(until === undefined ? {} : { until }) });
}

/** A canceled step whose outcome nobody knows settles itself. */
export function settle(draft: Draft, path: string, { attempt, ...asked }: Omit<Parameters<typeof beginSettling>[1], 'mode'>): void {
  const node = draft.node(path);
  if (!asks(node)) return;
  draft.apply(path, beginSettling(node, { ...asked, mode: 'settle', attempt: attempt + 1 }, draft.context(path)));
}

/**
 * A later run of a step has another input. What the former one did is undone first, once it is certain whether it did
 * anything; then the step begins anew (see `begunAnew`).
 */
export function replaceFormer(draft: Draft, path: string): void {
  const own = draft.own(path) as StepState;
  const { outcome, asked, until } = draft.state.known?.[path] ?? {};
  if (outcome === 'open') return settle(draft, path, { ...own, until, replaces: true, input: asked });
  const entry = draft.state.undo?.find((each) => each.path === path);
  if (!entry) return draft.apply(path, raise(inputChanged(path), { ...own, attempt: 0 }));
  draft.keep(path, { ...own, mode: 'cancel', phase: 'undoing', replaces: true });
  undo(draft, entry, path);
}

/** Its former effect is gone, so the step begins anew with its present input. Not where it was canceled meanwhile. */
export function begunAnew(draft: Draft, path: string): boolean {
  const { replaces } = draft.own(path) as StepState;
  if (!replaces || draft.activity(path)?.status !== 'Executing') return false;
  draft.restart(path);
  return true;
}

/** A step is known to have been done although it was not wanted any more: it stays until that is undone. */
export function undoLate(draft: Draft, path: string, own: StepState, output: Json): void {
  noteDone(draft, path, own, output);
  draft.keep(path, { ...own, mode: 'cancel', phase: 'undoing' });
  const entry = draft.state.undo?.find((each) => each.path === path);
  if (entry) undo(draft, entry, path);
}

/** It is undone: its entry goes, and a later run of the step is a new effect. */
export function noteUndone(draft: Draft, undoPath: string): void {
  const path = undonePath(undoPath);
  const entry = draft.state.undo?.find((each) => each.path === path);
  draft.set({ undone: true, undo: (draft.state.undo ?? []).filter((each) => each !== entry) });
  if (!entry) return;
  know(draft, path, { generation: entry.generation, attempt: 1, outcome: 'undone' });
  // Undone as a whole: what its parts did is not there any more, so a later run does it anew.
  for (const [each, known] of Object.entries(draft.state.known ?? {}))
    if (isWithin(each, path) && known.outcome === 'done') know(draft, each, { ...known, outcome: 'undone' });
}

/** Steps whose undo has failed and goes on being tried, or of which nobody can say whether there is anything to undo. */
export const failingUndos = ({ activities }: State): readonly string[] =>
  Object.entries(activities).flatMap(([path, { own }]) => {
    const { mode, failed } = (own ?? {}) as Partial<StepState>;
    if (!failed) return [];
    return mode === 'undo' ? [undonePath(path)] : mode === 'settle' ? [path] : [];
  });

/** A person has seen to it: the undo that would not succeed is done, or there is nothing to undo. */
export function markCompensated(draft: Draft, path: string): void {
  const undoPath = `${path}/undo`;
  const own = (at: string) => draft.own(at) as StepState | undefined;
  if (own(undoPath)?.mode === 'undo') {
    draft.fact({ type: 'MarkedCompensated', path });
    noteUndone(draft, undoPath);
    return draft.close(undoPath, { result: 'Compensated' });
  }
  const settling = own(path);
  if (settling?.mode !== 'settle') return;
  draft.fact({ type: 'MarkedCompensated', path });
  noteRefused(draft, path, settling);
  if (!begunAnew(draft, path)) draft.close(path, { result: 'Canceled' });
}
