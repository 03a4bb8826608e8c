import { isQuestion } from '#core/data/fault';
import { definitionPath, isUndoPath } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Outcome } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { readersOf } from '#core/views/readers';
import { exceptionFingerprint } from './fingerprint.ts';

/** Whether an action on an order has helped. `void`: before that was known, somebody ended the order otherwise, or skipped the step. */
export type Verdict = 'passed' | 'failed-again' | 'failed-otherwise' | 'void';

/** An action on an order whose effect is not known yet: plain JSON. */
export interface Watch {
  /** The kind of an instruction, or of a rule's action. */
  readonly kind: string;
  /** The activity that had failed, was skipped, or at which the order resumed. Without it, the end of the order decides. */
  readonly path?: string;
  /** The fingerprint of the exception that the action was about. */
  readonly fingerprint?: string;
  /** The activity that started next, after a skip or where the order resumed. */
  readonly next?: string;
  /** The exception that another order handles. */
  readonly exceptionId?: string;
}

/** A line of the journal after the action. Lines of other types are ignored. */
type LaterFact =
  | CoreFact
  | { readonly type: 'OrderProcessed'; readonly outcome: Outcome }
  | { readonly type: 'InstructionGiven'; readonly kind: string; readonly after?: { readonly path?: unknown } }
  | { readonly type: 'RuleActed'; readonly action: Action }
  | { readonly type: 'HandlerEnded'; readonly exceptionId: string; readonly isCompleted: boolean };

/**
 * The part of an order whose outcome judges an action: the step, the activity that starts next (`next-or-end`: or the end of the order),
 * the undo of the order, a scope, or the order that handles the exception.
 */
type Judgment = 'step' | 'next' | 'next-or-end' | 'undo' | 'scope' | 'handler';

const judgments: { readonly [kind: string]: Judgment } = {
  resubmit: 'step',
  retry: 'step',
  'replace-input': 'step',
  amend: 'step',
  migrate: 'step',
  /** A restart is judged by the journal of the new order. */
  restart: 'step',
  'resume-at': 'next',
  skip: 'next-or-end',
  compensate: 'undo',
  /** A scope of the order is undone: it closes, and the order goes on. */
  'compensate-scope': 'scope',
  cancel: 'undo',
  /** A person has a workflow handle an exception of a finished order. */
  handle: 'handler',
};

/** An instruction, or the action of a rule. */
type Action = { readonly kind: string; readonly path?: unknown; readonly control?: unknown };

/** Returns the kind of an action for `judgments`. */
export function judgedAs({ kind, path, control }: Action): string {
  const isOfOrder = path === undefined || path === rootPath;
  if (kind === 'recover') return isOfOrder ? 'compensate' : 'resume-at';
  // A rule's `handle` also says how the order goes on, so the end of the handler is no verdict about the rule.
  if (kind === 'handle' && control !== undefined) return 'handle-by-rule';
  return kind === 'compensate' && !isOfOrder ? 'compensate-scope' : kind;
}

/** The exception that an action is about, and its activity. */
interface About {
  readonly path?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly exceptionId?: string | undefined;
}

/** Returns the watch of an action. It watches the activity that the action names, or else the activity of the exception. */
export function watchOf(action: Action, about: About): Watch {
  const kind = judgedAs(action);
  const path = typeof action.path === 'string' ? action.path : about.path;
  const { fingerprint, exceptionId } = about;
  return {
    kind,
    ...(path === undefined ? {} : { path }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(kind === 'handle' && exceptionId !== undefined ? { exceptionId } : {}),
  };
}

/** Actions that end an order. The verdict about an earlier action is then `void`. */
const ends: ReadonlySet<string> = new Set(['terminate', 'cancel', 'compensate', 'restart']);

/** Whether an action of this kind can help or fail. The others are not verified, and count in no figure. */
export const isJudged = (kind: string): boolean => Object.hasOwn(judgments, kind);

/**
 * Returns the verdict about an action, or the watch to go on with, from the facts after the action, oldest first. It is a fold: facts may
 * be given in several parts.
 */
export function judge(program: Program, watch: Watch, facts: readonly { readonly type: string }[]): Watch | Verdict {
  let current = watch;
  for (const fact of facts as readonly LaterFact[]) {
    const found = judgeFact(program, current, fact);
    if (typeof found === 'string') return found;
    current = found;
  }
  return current;
}

function judgeFact(program: Program, watch: Watch, fact: LaterFact): Watch | Verdict {
  if (judgmentOf(watch) === 'handler') return handled(watch, fact);
  switch (fact.type) {
    case 'InstructionGiven':
      return ends.has(judgedAs({ kind: fact.kind, path: fact.after?.path })) ? 'void' : watch;
    case 'RuleActed':
      return ends.has(judgedAs(fact.action)) ? 'void' : watch;
    case 'OrderBlocked':
      return isQuestion(fact.fault) ? watch : failed(isAgain(program, watch, fact));
    case 'UndoFailed':
      return fact.stuck ? failed(judgmentOf(watch) === 'undo' || judgmentOf(watch) === 'scope') : watch;
    case 'ActivitySkipped':
      return fact.path === watch.path && judgmentOf(watch) === 'step' ? 'void' : watch;
    case 'ActivityStarted':
    case 'StepRequested':
      return started(watch, fact.path);
    case 'ActivityClosed':
      return closed(watch, fact);
    case 'OrderProcessed':
      return endsWell(watch, fact.outcome) ? 'passed' : 'failed-otherwise';
    default:
      return watch;
  }
}

/** Judges the instruction `handle`: only the end of the handler counts. */
function handled(watch: Watch, fact: LaterFact): Watch | Verdict {
  if (fact.type !== 'HandlerEnded' || fact.exceptionId !== watch.exceptionId) return watch;
  return fact.isCompleted ? 'passed' : 'failed-otherwise';
}

const judgmentOf = ({ kind }: Watch): Judgment => judgments[kind] ?? 'step';

const failed = (isSame: boolean): Verdict => (isSame ? 'failed-again' : 'failed-otherwise');

function isAgain(program: Program, watch: Watch, { path, fault }: Extract<LaterFact, { type: 'OrderBlocked' }>): boolean {
  switch (judgmentOf(watch)) {
    case 'step':
      // An action on a late step is not about an exception: any exception at that step counts.
      if (watch.fingerprint === undefined) return path === watch.path;
      // An exception from outside blocks the order at its root, and names the activity that it is about.
      return exceptionFingerprint({ workflow: program.definition.name, path: fault.source ?? path, fault }) === watch.fingerprint;
    case 'next':
      return true;
    case 'next-or-end':
      return watch.path !== undefined && readersOf(program, nodeAt(program, watch.path).name).includes(definitionPath(path));
    case 'undo':
    case 'scope':
    case 'handler':
      return false;
  }
}

/** Notes the activity that starts next. A composite is replaced by the first activity inside. */
function started(watch: Watch, path: string): Watch {
  const { next } = watch;
  const counts = judgmentOf(watch) === 'next' ? !isUndoPath(path) : path !== watch.path && !isUndoPath(path);
  const isNext = next === undefined || path.startsWith(`${next}/`) || path.startsWith(`${next}[`);
  return isJudgedByNext(watch) && counts && isNext ? { ...watch, next: path } : watch;
}

const isJudgedByNext = (watch: Watch): boolean => judgmentOf(watch) === 'next' || judgmentOf(watch) === 'next-or-end';

function closed(watch: Watch, { path, result }: Extract<LaterFact, { type: 'ActivityClosed' }>): Watch | Verdict {
  const awaited = isJudgedByNext(watch) ? watch.next : judgmentOf(watch) === 'undo' ? undefined : watch.path;
  if (awaited === undefined || path !== awaited) return watch;
  if (result === 'Succeeded') return 'passed';
  // A handler took a fault of the activity, so there is no exception.
  return result === 'Faulted' ? 'failed-otherwise' : watch;
}

/** Returns the verdict about an action if only the end of the order can be read. Only a person or a rule terminates an order, so `terminated` is `void`. */
export function judgeEnd(watch: Watch, outcome: Outcome): Verdict | undefined {
  if (judgmentOf(watch) === 'handler') return undefined;
  if (outcome === 'terminated') return 'void';
  return endsWell(watch, outcome) ? 'passed' : 'failed-otherwise';
}

function endsWell(watch: Watch, outcome: Outcome): boolean {
  switch (judgmentOf(watch)) {
    case 'next-or-end':
      return true;
    case 'undo':
      return outcome === 'compensated' || outcome === 'canceled';
    default:
      return outcome === 'completed';
  }
}
