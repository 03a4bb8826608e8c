import { localOf, runsAgain } from '#core/activities/index';
import type { ActivityState } from '#core/data/state';
import type { Activity } from '#core/definition/definition';
import { cancel } from './cancellation.ts';
import { close } from './closing.ts';
import { isUndoing, undoNext } from './compensation.ts';
import { variablesOf, withoutOutputsIn } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { execute } from './verbs.ts';

/**
 * Has an open activity go on at an activity inside it: its work is canceled, these scopes are undone, then the target starts. If the
 * target is the activity itself, it closes.
 */
export function resumeInside(builder: TransitionBuilder, path: string, to: string, scopes: readonly string[]): void {
  const { local } = builder.activity(path) ?? {};
  builder.patch(path, { resumes: { to, scopes, ...(local === undefined ? {} : { local }) } });
  for (const child of builder.children(path)) cancel(builder, child);
  builder.jobs.later({ do: 'resume', path });
}

/** Goes on as soon as nothing inside the activity is open: undoes the next scope, or starts the target. */
export function continueResuming(builder: TransitionBuilder, path: string): void {
  const { resumes } = builder.activity(path) ?? {};
  if (!resumes || builder.hasChildren(path)) return;
  if (isUndoing(builder, path)) return undoNext(builder, path);
  const [scope, ...scopes] = resumes.scopes;
  if (scope === undefined) endRecovery(builder);
  if (scope === undefined && resumes.to === path) return closeUndone(builder, path);
  if (scope === undefined) return startTowards(builder, path, resumes.to, resumes.local);
  builder.patch(path, { local: { scope }, resumes: { ...resumes, scopes } });
  undoNext(builder, path);
}

/** Closes a scope that a person has undone, with the result of a scope whose handler has ended. */
function closeUndone(builder: TransitionBuilder, path: string): void {
  builder.replaceState(withoutOutputsIn(builder.state, `${path}/`));
  close(builder, path, { result: 'Succeeded' });
}

/** Ends the recovery, if there is one: nothing of the affected scope is left to undo. */
function endRecovery(builder: TransitionBuilder): void {
  const { recovering, ...state } = builder.state;
  if (recovering !== undefined) builder.replaceState(state);
}

/** Starts the activities around the target as if they had come as far as the target, and then the target itself. */
function startTowards(builder: TransitionBuilder, from: string, to: string, local: unknown): void {
  for (let at = from, before = local; at !== to; before = undefined) {
    const node = builder.node(at);
    const [name = ''] = to.slice(at.length + 1).split('/');
    const { resumes: _, ...activity }: ActivityState = builder.activity(at) ?? started(builder, node);
    if (!builder.activity(at)) builder.fact({ type: 'ActivityStarted', path: at });
    builder.put(at, { ...activity, status: 'Executing', local: localAt(node, name, before) });
    at = `${at}/${name}`;
  }
  execute(builder, to);
}

function started(builder: TransitionBuilder, node: Activity): ActivityState {
  const { pagedUndo } = builder.state;
  const vars = runsAgain(node) ? variablesOf(builder.state, node) : undefined;
  return { status: 'Executing', ...(vars ? { vars } : {}), ...(pagedUndo ? { above: pagedUndo.top } : {}) };
}

/** Returns the local state with which an activity runs this child. */
function localAt(node: Activity, name: string, before: unknown): unknown {
  if (node.activity === 'sequence') return { at: node.children.findIndex((child) => child.name === name) };
  if (node.activity !== 'retry') return {};
  const { attempt = 1 } = localOf(node, { status: 'Executing', local: before }) ?? {};
  return { phase: 'trying', attempt };
}
