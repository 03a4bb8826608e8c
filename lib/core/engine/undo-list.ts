import { outputVariable } from '#core/data/child-order';
import { firstGenerationOf, undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { UndoEntry } from '#core/data/state';
import type { StepMemo, StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import type { Scope } from '#core/definition/expression';
import { fingerprint } from '#core/definition/fingerprint';
import { fill, inputOf, partRead, scopeOf } from '#core/definition/program';
import { ruledUndoOf } from '#core/definition/ruled-undos';
import type { RuleScope } from '#core/rules/language';
import { ruledInput } from '#core/rules/ruled-undo';
import { possibleUntil } from './confirmation.ts';
import { isInRetry, withMemo } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { isWithin } from './undo-pages.ts';

/**
 * Records a completed step with everything its undo needs. The undo list grows at its end, and is undone from there: newest first (WSEHF,
 * SAS).
 */
export function noteDone(builder: TransitionBuilder, path: string, { generation, attempt }: StepState, output: Json | undefined): void {
  if (isInRetry(builder.program, builder.state, path)) {
    const input = inputOf(builder.program, builder.subject, builder.state, path);
    const inputHash = input.ok ? { inputHash: fingerprint(input.value) } : {};
    recordMemo(builder, path, { generation, attempt, outcome: 'done', ...inputHash, ...(output === undefined ? {} : { output }) });
  }
  const input = undoInput(builder, path, output ?? null);
  if (input === undefined) return forget(builder, path);
  const others = (builder.state.undo ?? []).filter((entry) => entry.path !== path);
  builder.set({ undo: [...others, { path, generation, ...input }] });
}

/** Removes the undo entry of a step that was refused, or to which a rule gives no undo after all. Its outcome need not be confirmed. */
function forget(builder: TransitionBuilder, path: string): void {
  const { undo = [] } = builder.state;
  if (undo.some((entry) => entry.path === path)) builder.set({ undo: undo.filter((entry) => entry.path !== path) });
}

/** Records a composite that has an undo. It is undone as a whole, so the undo entries of its parts are dropped. */
export function noteWhole(builder: TransitionBuilder, path: string): void {
  const input = undoInput(builder, path, null);
  if (input === undefined) return;
  const { undo = [] } = builder.state;
  // A retry repeated the composite, but did none of its steps again: the entry keeps its place in the undo list.
  if (undo.some((entry) => entry.path === path) && !undo.some((entry) => isWithin(entry.path, path) && isKnownDone(entry))) return;
  const { outcome, generation = firstGenerationOf(builder.subject) } = builder.state.memos?.[path] ?? {};
  const memo = { generation: outcome === 'undone' ? generation + 1 : generation, attempt: 1, outcome: 'done' } as const;
  recordMemo(builder, path, memo);
  // Entries with an unknown outcome stay. They must still be confirmed.
  const others = (builder.state.undo ?? []).filter((entry) => entry.path !== path && !(isWithin(entry.path, path) && isKnownDone(entry)));
  builder.set({ undo: [...others, { path, generation: memo.generation, ...input }] });
}

/**
 * Records a step with an unknown outcome, as the newest entry of the undo list. The outcome is confirmed before any older entry of the
 * scope is undone.
 */
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
  forget(builder, path);
}

const recordMemo = (builder: TransitionBuilder, path: string, memo: StepMemo): void =>
  builder.replaceState(withMemo(builder.program, builder.state, path, memo));

export const canBeUndone = (builder: TransitionBuilder, path: string): boolean => builder.node(path).undo !== undefined;

/** Whether the step is known to be done. Its undo may still be impossible. */
export const isKnownDone = ({ input, fault }: UndoEntry): boolean => input !== undefined || fault !== undefined;

/** Evaluates the input of an undo at once, so that the values it reads need not be kept. Undefined if the activity has no undo. */
export function undoInput(builder: TransitionBuilder, path: string, output: Json): Pick<UndoEntry, 'input' | 'fault'> | undefined {
  const node = builder.node(path);
  if (!node.undo) return undefined;
  const scope = {
    ...scopeOf(builder.program, builder.subject, builder.state, path),
    ...builder.state.undo?.find((each) => each.path === path)?.reads,
  };
  const ruled = ruledUndoOf(node);
  if (ruled) return ruledInput(ruled, ruleScope(builder, path, scope, output));
  const filled = fill(node.undo.input, { ...scope, steps: { ...scope.steps, [node.name]: output } });
  return filled.ok ? { input: filled.value } : { fault: filled.fault };
}

/** Returns what the rule of an undo may read: the step and its output, and what the definition keeps. */
function ruleScope(builder: TransitionBuilder, path: string, { order, steps, vars = {} }: Scope, output: Json): RuleScope {
  const node = builder.node(path);
  const { [outputVariable]: _, ...variables } = vars;
  const { agent, operation } = isRemote(node) ? node : { agent: '', operation: '' };
  const attempts = builder.stepAt(path)?.attempt ?? 0;
  return {
    order,
    outputs: { ...steps, [node.name]: output },
    variables,
    step: { path, name: node.name, agent, operation, status: 'Compensating', attempts, output },
    at: new Date(builder.event.at).toISOString(),
  };
}

/** Returns the values of other activities that an undo reads. By the time the outcome is known, they may have changed or be gone. */
function readsOfUndo(builder: TransitionBuilder, path: string): Pick<UndoEntry, 'reads'> {
  const { undo, name } = builder.node(path);
  const scope = scopeOf(builder.program, builder.subject, builder.state, path);
  const before = builder.state.undo?.find((each) => each.path === path)?.reads;
  const reads = undo && (before ?? partRead(undo.input, scope, name));
  return reads && Object.keys(reads).length > 0 ? { reads } : {};
}

/** Removes the undo entry of a step that is undone. A later run of the step is a new effect. */
export function noteUndone(builder: TransitionBuilder, undoPath: string): void {
  const path = undonePath(undoPath);
  const entry = builder.state.undo?.find((each) => each.path === path);
  builder.set({ undone: true, undo: (builder.state.undo ?? []).filter((each) => each !== entry) });
  if (!entry) return;
  recordMemo(builder, path, { generation: entry.generation, attempt: 1, outcome: 'undone' });
  // A composite is undone as a whole: the work of its parts is gone too, so a later run repeats that work.
  for (const [each, memo] of Object.entries(builder.state.memos ?? {}))
    if (isWithin(each, path) && memo.outcome === 'done') recordMemo(builder, each, { ...memo, outcome: 'undone' });
}
