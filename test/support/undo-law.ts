import assert from 'node:assert/strict';
import type { StepReply } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import type { Transition } from '#core/engine/transition';
import { isInside, type Progress, type Turn } from './laws.ts';

/**
 * S11, F-100, F-101, F-107: an undo always takes the newest step in its scope that may have been done, and leaves none
 * out.
 */
export class UndoLaw {
  private readonly program: Program;
  private readonly progress: Progress;
  private work: Done[] = [];
  private readonly marked = new Set<string>();
  /** Steps that were done, and those of them that were undone since, alone or with a composite around them. */
  private readonly done = new Set<string>();
  private readonly gone = new Set<string>();
  /** The newest reply to each step that counted, until the next request. */
  private readonly replies = new Map<string, StepReply>();

  constructor(program: Program, progress: Progress) {
    this.program = program;
    this.progress = progress;
  }

  replied(path: string, reply: StepReply): void {
    this.replies.set(path, reply);
  }

  fact(fact: CoreFact, { before, after }: Turn): void {
    if (fact.type === 'StepRequested' || fact.type === 'UndoFailed') this.requested(fact.path, after);
    if (fact.type === 'StepRequested') this.gone.delete(fact.path);
    if (fact.type === 'MarkedCompensated') this.marked.add(fact.path);
    if (fact.type === 'ActivityClosed') this.closed(fact, before);
  }

  end({ before, after: { state, facts } }: Turn): void {
    for (const fact of facts) if (fact.type === 'StepRequested') this.replies.delete(fact.path);
    this.marked.clear();
    if (state.phase === 'closed' && before.ending && state.outcome !== 'terminated') this.nothingIsLeft(scopeAt('order'));
  }

  private requested(path: string, { state }: Transition): void {
    const { parent: runner, local: own } = state.activities[path] ?? {};
    const { mode, attempt, from } = (own ?? {}) as { mode?: string; attempt?: number; from?: number };
    if (mode === 'confirm' && runner !== undefined) this.isNewest(path, runner);
    const isFirst = attempt === from || attempt === 0;
    if (mode !== 'undo' || runner === undefined || !isFirst) return;
    const did = path.slice(0, -'/undo'.length);
    if (runner !== did || !isRemote(nodeAt(this.program, did))) return this.isNewest(did, runner);
    assert.equal(this.replies.get(did)?.status, 'succeeded', `${did} is undone because it was done`);
    this.add(did);
  }

  private closed({ path, result, attemptId }: Extract<CoreFact, { type: 'ActivityClosed' }>, { activities }: State): void {
    if (result === 'Compensated') return this.undone(path.slice(0, -'/undo'.length));
    const node = nodeAt(this.program, path);
    if (isRemote(node) && result === 'Succeeded') this.isThere(path, attemptId);
    if (node.activity === 'compensate' && result === 'Succeeded') this.nothingIsLeft(scopeOfRunner(this.program, this.progress, path));
    if (!isRemote(node) && node.undo && result === 'Succeeded' && !this.progress.handling.has(path)) return this.closedAsAWhole(path);
    if (!isRemote(node) || !node.undo || attemptId === undefined || attemptId.endsWith('.0')) return;
    if (this.marked.has(path)) return this.drop(path);
    const confirms = (activities[path]?.local as { mode?: string } | undefined)?.mode === 'confirm';
    if (result === 'Succeeded') this.add(path);
    else if (isDefinite(this.replies.get(path))) this.drop(path);
    else if (confirms && activities[path]?.parent) this.add(path);
    else if (result === 'Faulted') this.add(path, false);
  }

  private undone(path: string): void {
    this.drop(path);
    for (const each of this.done) if (each === path || isInside(each, path)) this.gone.add(each);
  }

  /** A step that an earlier run has done is not requested again, unless it was undone since. */
  private isThere(path: string, attemptId: string | undefined): void {
    assert.ok(attemptId !== undefined || !this.gone.has(path), `${path} was undone, so a later run does it again (F-102)`);
    this.done.add(path);
    this.gone.delete(path);
  }

  /** Notes a composite that one undo undoes as a whole. It takes the place of its parts, and becomes the newest work. */
  private closedAsAWhole(path: string): void {
    const parts = this.work.filter((each) => each.isKnown && isInside(each.path, path));
    if (parts.length === 0 && this.work.some((each) => each.path === path)) return;
    for (const part of parts) this.drop(part.path);
    this.add(path);
  }

  private isNewest(path: string, runner: string): void {
    const scope = scopeOfRunner(this.program, this.progress, runner);
    assert.equal(
      path,
      this.work.findLast((each) => scope.includes(each.path))?.path,
      `the newest work in ${scope.path} is undone or confirmed first`,
    );
  }

  private nothingIsLeft(scope: Scope): void {
    const left = this.work.filter((each) => scope.includes(each.path));
    assert.deepEqual(left, [], `${scope.path} leaves no effect behind`);
  }

  private drop(path: string): void {
    this.work = this.work.filter((each) => each.path !== path);
  }

  private add(path: string, isKnown = true): void {
    this.drop(path);
    this.work.push({ path, isKnown });
  }
}

interface Done {
  readonly path: string;
  /** Whether its outcome is known. */
  readonly isKnown: boolean;
}

const isDefinite = (reply: StepReply | undefined): boolean =>
  reply?.status === 'rejected' || (reply?.status === 'failed' && reply.fault.permanent && !reply.fault.outcomeUnknown);

interface Scope {
  readonly path: string;
  readonly includes: (path: string) => boolean;
}
const scopeAt = (path: string, except?: string): Scope => ({
  path,
  includes: (each) => (each === path || isInside(each, path)) && !(except !== undefined && (each === except || isInside(each, except))),
});

/**
 * The composite whose work is undone: an order that is being ended, a retry, or the composite whose handler contains
 * the `compensate`, without that handler's own work.
 */
function scopeOfRunner(program: Program, { handling }: Progress, runner: string): Scope {
  const node = nodeAt(program, runner);
  if (node.activity !== 'compensate') return scopeAt(runner);
  for (let at = parentOf(runner), from = runner; at !== undefined; from = at, at = parentOf(at))
    if (from === `${at}/${handling.get(at)}`) return scopeAt(node.scope === undefined ? at : named(program, node.scope), from);
  return scopeAt(node.scope === undefined ? 'order' : named(program, node.scope));
}

const named = (program: Program, name: string): string => [...program.nodes].find(([, node]) => node.name === name)?.[0] ?? 'order';
