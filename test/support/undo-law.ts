import assert from 'node:assert/strict';
import { asks } from '../../lib/core/definition.ts';
import type { Transition } from '../../lib/core/draft.ts';
import type { StepReply } from '../../lib/core/event.ts';
import type { CoreFact } from '../../lib/core/journal.ts';
import { nodeAt, type Program, parentOf } from '../../lib/core/program.ts';
import type { State } from '../../lib/core/state.ts';
import { isInside, type Known, type Turn } from './laws.ts';

/** S11, F-100, F-101, F-107: what is undone is always the newest thing in its scope that may have been done, and nothing is left out. */
export class UndoLaw {
  private readonly program: Program;
  private readonly known: Known;
  private work: string[] = [];
  /** The newest answer to each step that counted, until it is asked again. */
  private readonly replies = new Map<string, StepReply>();

  constructor(program: Program, known: Known) {
    this.program = program;
    this.known = known;
  }

  replied(path: string, reply: StepReply): void {
    this.replies.set(path, reply);
  }

  fact(fact: CoreFact, { before, after }: Turn): void {
    if (fact.type === 'StepAsked') this.asked(fact.path, after);
    if (fact.type === 'ActivityClosed') this.closed(fact, before);
  }

  end({ before, after: { state, facts } }: Turn): void {
    for (const fact of facts) if (fact.type === 'StepAsked') this.replies.delete(fact.path);
    if (state.phase === 'closed' && before.ending && state.outcome === before.ending.outcome) this.nothingIsLeft(scopeAt('order'));
  }

  private asked(path: string, { state }: Transition): void {
    const { runner, own } = state.activities[path] ?? {};
    const { mode, attempt, from } = (own ?? {}) as { mode?: string; attempt?: number; from?: number };
    if (mode === 'settle' && runner !== undefined) this.isNewest(path, runner);
    if (mode !== 'undo' || runner === undefined || attempt !== from) return;
    const did = path.slice(0, -'/undo'.length);
    if (runner !== did) return this.isNewest(did, runner);
    assert.equal(this.replies.get(did)?.status, 'succeeded', `${did} is undone because it was done`);
    this.add(did);
  }

  private closed({ path, result, asking }: Extract<CoreFact, { type: 'ActivityClosed' }>, { activities }: State): void {
    if (result === 'Compensated') return this.drop(path.slice(0, -'/undo'.length));
    const node = nodeAt(this.program, path);
    if (node.activity === 'compensate' && result === 'Succeeded') this.nothingIsLeft(scopeOfRunner(this.program, this.known, path));
    if (!asks(node)) return result === 'Succeeded' && node.undo ? this.addWhole(path) : undefined;
    if (!node.undo || asking === undefined || asking.endsWith('.0')) return;
    const settles = (activities[path]?.own as { mode?: string } | undefined)?.mode === 'settle';
    if (result === 'Succeeded') this.add(path);
    else if (isDefinite(this.replies.get(path))) this.drop(path);
    else if (result === 'Faulted' || (settles && activities[path]?.runner)) this.add(path);
  }

  private isNewest(path: string, runner: string): void {
    const scope = scopeOfRunner(this.program, this.known, runner);
    assert.equal(path, this.work.findLast(scope.includes), `the newest work in ${scope.path} is undone or settled first`);
  }

  private nothingIsLeft(scope: Scope): void {
    assert.deepEqual(this.work.filter(scope.includes), [], `nothing that was done in ${scope.path} is left`);
  }

  private drop(path: string): void {
    this.work = this.work.filter((each) => each !== path);
  }

  /** A composite that is undone as a whole: what its parts did goes with it, but not what nobody knows of. */
  private addWhole(path: string): void {
    this.work = this.work.filter((each) => !isInside(each, path) || this.replies.get(each)?.status !== 'succeeded');
    this.add(path);
  }

  private add(path: string): void {
    this.drop(path);
    this.work.push(path);
  }
}

const isDefinite = (reply: StepReply | undefined): boolean =>
  reply?.status === 'rejected' || (reply?.status === 'failed' && reply.fault.permanent && !reply.fault.outcomeUnknown);

interface Scope {
  readonly path: string;
  readonly includes: (path: string) => boolean;
}
const scopeAt = (path: string, except?: string): Scope => ({
  path,
  includes: (each) => isInside(each, path) && !(except !== undefined && (each === except || isInside(each, except))),
});

/** The composite whose work is undone: an order that is being ended, a retry, or the one whose handler runs around a `compensate`, without that handler's own work. */
function scopeOfRunner(program: Program, { handling }: Known, runner: string): Scope {
  const node = nodeAt(program, runner);
  if (node.activity !== 'compensate') return scopeAt(runner);
  for (let at = parentOf(runner), from = runner; at !== undefined; from = at, at = parentOf(at))
    if (from === `${at}/${handling.get(at)}`) return scopeAt(node.scope === undefined ? at : named(program, node.scope), from);
  return scopeAt(node.scope === undefined ? 'order' : named(program, node.scope));
}

const named = (program: Program, name: string): string => [...program.nodes].find(([, node]) => node.name === name)?.[0] ?? 'order';
