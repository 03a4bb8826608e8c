import assert from 'node:assert/strict';
import type { Retry } from '#core/activities/retry';
import type { Event } from '#core/data/event';
import { type Fault, isQuestion } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { type Activity, isRemote, rootPath } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import type { Transition } from '#core/engine/transition';

/** An event and its transition, as a law sees them. */
export interface Turn {
  readonly before: State;
  readonly event: Event;
  readonly after: Transition;
}
export type Law = (turn: Turn) => void;

export const isInside = (path: string, around: string): boolean => path.startsWith(`${around}/`) || path.startsWith(`${around}[`);

/** Running handlers and failed runs, as far as the facts show. */
export interface Progress {
  readonly handling: Map<string, string>;
  readonly failedRuns: Map<string, number>;
  readonly alive: Set<string>;
  /** Paths that succeeded inside activities that are still open. */
  readonly done: Set<string>;
}

interface Destination {
  readonly at: string;
  /** Name of the handler; absent for a retry. */
  readonly handler?: string;
  /** A fault of a cleanup reaches no handler. */
  readonly nowhere?: true;
}

/** The caller of the order. */
const caller = 'caller';

/** Whether a type begins with all names of another type. */
const isKindOf = (type: string, ancestor: string): boolean =>
  ancestor === '*' || ancestor.split('/').every((name, index) => type.split('/')[index] === name);

/** Whether an `ensure` runs its last part after a fault or a cancellation, not after the success of its first part. */
export function isCleanUp(program: Program, { done }: Progress, ensure: string, { before, after }: Turn): boolean {
  if (!nodeAt(program, ensure).activity.endsWith(':ensure')) return false;
  const { do: first } = nodeAt(program, ensure) as Activity & { readonly do: Activity };
  const lives = [before.activities[ensure], after.state.activities[ensure]];
  if (lives.some((life) => life?.cleaning)) return true;
  if (lives.some((life) => (life?.local as { readonly last?: true } | undefined)?.last)) return false;
  // The last part may begin and end within one event, so that no state shows it.
  const closesCanceled = after.facts.some((fact) => fact.type === 'ActivityClosed' && fact.path === ensure && fact.result === 'Canceled');
  return closesCanceled || !done.has(`${ensure}/${first.name}`);
}

/** Whether the activity is being canceled. A fault that begins inside it in the same event reaches no handler. */
const isCanceled = (at: string, { after }: Turn): boolean => {
  // If it closes within the event, the state may already have its next run under the same path.
  const end = after.facts.find((fact) => fact.type === 'ActivityClosed' && fact.path === at);
  return end?.type === 'ActivityClosed' ? end.result === 'Canceled' : after.state.activities[at]?.status === 'Canceling';
};

/** Returns the turn without the facts up to this one: an activity that closed before it may run again by then. */
const behind = (fact: CoreFact, turn: Turn): Turn => {
  const { facts } = turn.after;
  return { ...turn, after: { ...turn.after, facts: facts.slice(facts.indexOf(fact) + 1) } };
};

/** Returns the built-in retry, or an app's activity that counts its runs in the same way. */
export function retryAt(program: Program, path: string): Retry | undefined {
  const node = nodeAt(program, path);
  return node.activity === 'retry' || node.activity.endsWith(':again') ? (node as unknown as Retry) : undefined;
}

/** Finds the handler or retry of a fault by walking up the definition: the oracle for the core. */
export function destinationOf(program: Program, progress: Progress, path: string, fault: Fault, turn: Turn): Destination | undefined {
  const { handling, failedRuns } = progress;
  const retries = (at: string | undefined, from: string): boolean => {
    const node = at === undefined ? undefined : retryAt(program, at);
    if (at === undefined || !node || handling.has(at) || from !== `${at}/${node.do.name}`) return false;
    if (node.only ? !node.only.some((type) => isKindOf(fault.type, type)) : fault.permanent && !node.evenPermanent) return false;
    return (failedRuns.get(at) ?? 0) < node.retries && !(node.except ?? []).some((type) => isKindOf(fault.type, type));
  };
  const cleansUp = (at: string, from: string): boolean => {
    const { last } = nodeAt(program, at) as Activity & { readonly last?: Activity };
    return last !== undefined && from === `${at}/${last.name}` && isCleanUp(program, progress, at, turn);
  };
  for (let at: string | undefined = path, from = ''; at !== undefined; from = at, at = parentOf(at)) {
    if (cleansUp(at, from)) return { at, nowhere: true };
    if (retries(at, from)) return { at };
    if (handling.has(at) || retries(parentOf(at), at)) continue;
    const handler: Activity | undefined = nodeAt(program, at).faultHandlers?.find((each) => isKindOf(fault.type, each.fault))?.do;
    if (handler) return { at, handler: handler.name };
    if (isCanceled(at, turn)) return { at, nowhere: true };
  }
  const { toCaller = [] } = program.definition;
  const { called } = turn.after.state;
  return called && !turn.before.ending && toCaller.some((type) => isKindOf(fault.type, type)) ? { at: caller } : undefined;
}

/**
 * F-69, F-73, F-82, F-93, F-97: every fault goes to the handler or the retry that the definition says, and to no other.
 */
export class FaultLaw {
  private readonly program: Program;
  private readonly progress: Progress;
  private pending: { readonly source: string; readonly fault: Fault; readonly destination: Destination }[] = [];
  /** Source of each composite's fault: of two faults inside it, the first to reach it. */
  private readonly faultedBy = new Map<string, string>();

  constructor(program: Program, progress: Progress) {
    this.program = program;
    this.progress = progress;
  }

  fact(fact: CoreFact, turn: Turn): void {
    if (fact.type === 'FaultRaised') this.raised(fact.path, fact.fault, behind(fact, turn));
    if (fact.type === 'FaultHandled') this.taken(fact.path, fact.fault, fact.handler);
    if (fact.type === 'RunFailed') this.taken(fact.path, fact.fault);
    if (fact.type === 'ActivityClosed') this.closed(fact.path, fact.result);
    const isBlocked = fact.type === 'OrderBlocked' && turn.event.type !== 'exhausted' && !isQuestion(fact.fault);
    // The reply to a canceled step raises no fault.
    const isForNow = fact.type === 'AttemptFailed' && !isCanceled(fact.path, turn);
    if (isBlocked || isForNow) {
      const destination = destinationOf(this.program, this.progress, fact.path, fact.fault, behind(fact, turn));
      assert.ok(
        destination === undefined || (destination.nowhere && !isBlocked),
        `${fact.fault.type} of ${fact.path} waits, though it has a handler`,
      );
    }
  }

  end({ phase, outcome, failure }: State): void {
    // A fault that goes to the caller ends the other faults of the same instant.
    if (phase === 'closed' && outcome !== 'terminated' && !failure)
      assert.deepEqual(this.pending, [], 'an order does not end with an open fault');
  }

  private raised(path: string, fault: Fault, turn: Turn): void {
    const destination = destinationOf(this.program, this.progress, path, fault, turn);
    assert.ok(destination, `${fault.type} of ${path} rises, though it has no handler (F-74)`);
    if (!destination.nowhere) this.pending.push({ source: path, fault, destination: destination });
    if (!isRemote(nodeAt(this.program, path))) this.faultedBy.set(path, path);
  }

  private taken(at: string, fault: Fault, handler?: string): void {
    // A fault that is raised again keeps its first source.
    const found = this.pending.find(
      (each) => each.destination.at === at && (each.fault.source ?? each.source) === fault.source && each.fault.type === fault.type,
    );
    assert.ok(found, `${at} handles ${fault.type} of ${fault.source}, which belongs elsewhere`);
    assert.equal(handler, found.destination.handler, `${fault.type} of ${fault.source} goes to the first handler that matches`);
    this.faultedBy.delete(at);
    const inside = [...this.progress.alive].filter((each) => isInside(each, at));
    assert.deepEqual(inside, [], `all activities in ${at} are closed before a handler or the next run begins (F-72)`);
    this.forget(at);
  }

  private closed(path: string, result: string): void {
    const winner = result === 'Faulted' ? this.wentUp(path) : undefined;
    this.faultedBy.delete(path);
    const waited = this.pending.filter(({ destination, source }) => destination.at === path && (winner === undefined || source === winner));
    const [missed] = result === 'Canceled' ? [] : waited;
    assert.equal(missed, undefined, `${path} closes as ${result} without handling its fault`);
    // A step may be confirmed while its fault rises, so its own closing shows nothing.
    if (result === 'Canceled' && !isRemote(nodeAt(this.program, path))) this.forget(path);
    if (path === rootPath) this.pending = this.pending.filter(({ destination }) => destination.at !== caller);
  }

  private wentUp(path: string): string {
    const source = this.faultedBy.get(path) ?? path;
    const parent = parentOf(path);
    if (parent !== undefined && (!this.faultedBy.has(parent) || this.progress.handling.has(parent))) this.faultedBy.set(parent, source);
    return source;
  }

  private forget(path: string): void {
    this.pending = this.pending.filter(({ source }) => source !== path && !isInside(source, path));
  }
}

/** F-79: in an activity that is Faulting or Canceling, only confirmations and undos begin. */
export const nothingBeginsInWhatEnds: Law = ({ before, after }) => {
  // A retry may run the same activity again in the same instant.
  const closed = new Set(after.facts.flatMap((fact) => (fact.type === 'ActivityClosed' ? [fact.path] : [])));
  for (const [path, { local: own }] of Object.entries(after.state.activities)) {
    const { mode } = (own ?? {}) as { mode?: string };
    if (before.activities[path] || mode === 'undo' || mode === 'confirm') continue;
    for (let around = parentOf(path); around !== undefined; around = parentOf(around)) {
      const [then, now] = [before.activities[around], after.state.activities[around]];
      if (closed.has(around)) continue;
      if (then?.cleaning || now?.cleaning) break;
      const ending = then?.status === 'Canceling' || (then?.status === 'Faulting' && !then.handling && !then.awaitsPerson);
      assert.ok(
        !(ending && now && now.status === then.status && !now.handling),
        `${path} begins, though ${around} is ${then?.status} (F-79)`,
      );
    }
  }
};

const words: { readonly [kind: string]: readonly (string | undefined)[] } = {
  status: ['Executing', 'Canceling', 'Faulting', 'Compensating'],
  phase: [undefined, 'requested', 'failedForNow', 'refused', 'unknown', 'waitingToRetry', 'impossible', 'undoing', 'trying', 'backingOff'],
  mode: [undefined, 'undo', 'confirm', 'cancel'],
  result: ['Succeeded', 'Faulted', 'Canceled', 'Compensated'],
  outcome: [undefined, 'completed', 'compensated', 'rejected', 'canceled', 'terminated'],
  known: ['done', 'refused', 'undone', 'open'],
};

/** F-81: the state and the journal use only the words that readers expect. */
export const wordsAreKnown: Law = ({ after: { state, facts } }) => {
  const isWord = (kind: string, word: string | undefined, where: string) =>
    assert.ok(words[kind]?.includes(word), `${where} has the ${kind} "${word}", which readers do not know`);
  for (const [path, { status, local: own }] of Object.entries(state.activities)) {
    isWord('status', status, path);
    const { phase, mode } = (own ?? {}) as { phase?: string; mode?: string };
    isWord('phase', phase, path);
    isWord('mode', mode, path);
  }
  for (const fact of facts) if (fact.type === 'ActivityClosed') isWord('result', fact.result, fact.path);
  for (const [path, { outcome }] of Object.entries(state.memos ?? {})) isWord('known', outcome, path);
  isWord('outcome', state.outcome, 'the order');
  isWord('outcome', state.ending?.outcome, 'its ending');
};
