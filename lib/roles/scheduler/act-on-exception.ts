import type { EventContent, RuledAction } from '#core/data/event';
import { type Fault, isQuestion } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { Blocked } from '#core/data/state';
import { isRemote, limits, type RemoteActivity } from '#core/definition/definition';
import { nodeAt, stepAt } from '#core/definition/program';
import type { Handling } from '#core/exceptions/exception';
import { isUnknown } from '#core/instructions/outcome';
import { placeOf as whereIs } from '#core/instructions/place';
import { ruleFailed } from '#core/rules/faults';
import type { DecidedAction, Decision } from '#core/rules/situation';
import { subjectOf } from '#ports/records';
import type { TaskWishes } from '#roles/exceptions/causes';
import { contentOf } from '#roles/operator/event-content';
import { addFacts, applyEvent, type Draft, patchRecord } from './draft.ts';
import { beginHandler, handlerRefusal } from './handlers.ts';
import { needsJournal, recoveryOf } from './recover-by-rule.ts';
import { watch } from './rule-watches.ts';

/** The result of a decision about an exception. */
export type Acted =
  | { readonly how: 'acted'; readonly draft: Draft; readonly control: Handling['control']; readonly round: number }
  /** The exception is left to a person. `problem`: the rule itself failed or is stopped, and the order goes on waiting for an answer. */
  | { readonly how: 'left'; readonly draft?: Draft; readonly wishes?: TaskWishes; readonly problem?: Fault };

type Instructed = Extract<EventContent, { type: 'instructed' }>['instruction'];

/** The exception for which an order is blocked, with its number. */
interface Stopped {
  readonly blocked: Blocked;
  readonly seq: number;
  readonly fingerprint: string;
}

/** Carries out the decision of a rule about the exception that blocks the order. */
export function actOnException(before: Draft, { blocked, seq, fingerprint }: Stopped, decision: Decision): Acted {
  const { action, executor, ruleId, version } = decision;
  if (needsJournal(before, action)) return { how: 'left', draft: { ...before, needs: 'journal' } };
  const refusal = refusalOf(before, blocked, action);
  const noted = refusal === undefined ? addFacts(before, [{ type: 'RuleActed', ruleId, version, action }]) : before;
  const draft = refusal === undefined ? watch(noted, decision, { path: placeOf(blocked), fingerprint }) : before;
  const decided = (ruled: RuledAction, control: Handling['control'], round = 0): Acted => ({
    how: 'acted',
    draft: applyEvent(draft, { type: 'decided', rule: { id: ruleId, version: decision.version }, action: ruled }),
    control,
    round,
  });
  const goOn: EventContent = { type: 'decided', rule: { id: ruleId, version: decision.version }, action: { kind: 'go-on' } };
  const given = (instruction: Instructed, control: Handling['control']): Acted => {
    const next = instructed(draft, instruction);
    // An instruction about an activity for which the order is not blocked leaves the order blocked.
    return { how: 'acted', draft: blocked.reported ? applyEvent(next, goOn) : next, control, round: 0 };
  };
  // A question stays open: the fault of a rule must not take its place.
  const isAsked = before.instance.state.blocked !== undefined && isQuestion(before.instance.state.blocked.fault);
  const leave = (fault: Fault): Acted =>
    isAsked ? { how: 'left', problem: fault } : decided({ kind: 'raise', fault, toPerson: true }, 'none');
  if (refusal !== undefined) return leave(ruleFailed(ruleId, refusal));
  switch (action.kind) {
    case 'retry':
      return decided({ kind: 'retry', afterSeconds: action.afterSeconds }, 'ready');
    case 'skip':
      return given({ kind: 'skip', path: placeOf(blocked), output: action.output, effect: 'none' }, 'resumed');
    case 'replace-input':
      return given({ kind: 'replace-input', path: placeOf(blocked), input: action.input }, 'ready');
    case 'raise': {
      const { fault, toPerson, round } = action;
      return toPerson ? leave(fault) : decided({ kind: 'raise', fault, toPerson }, 'resumed', round);
    }
    case 'handle':
      return { how: 'acted', draft: beginHandler(draft, decision, action, { blocked, seq }), control: action.control, round: 0 };
    case 'suspend':
      return suspended(draft, decision, decided({ kind: 'suspend' }, 'ready'));
    case 'compensate':
      return { how: 'acted', draft: applyEvent(draft, { type: 'canceled', outcome: 'compensated' }), control: 'none', round: 0 };
    case 'recover':
      return { how: 'acted', draft: recovered(draft, action), control: action.path === undefined ? 'none' : 'resumed', round: 0 };
    case 'signal':
      return { how: 'left', draft: applyEvent(draft, { type: 'signaled', name: action.name, payload: action.payload }) };
    case 'task':
      return { how: 'left', draft: noted, wishes: wishesOf(action, executor) };
    case 'announce':
    case 'compensate-with':
      return { how: 'left' };
    default:
      return unknownAction(action, { how: 'left' });
  }
}

/** The compiler reports a kind of action that has no case here. A newer release may have written a rule of such a kind: it does nothing. */
export const unknownAction = <T>(_action: never, nothing: T): T => nothing;

/** Gives the order an instruction of a rule. A mask in it stands for the secret that the order has now. */
export function instructed(draft: Draft, instruction: Instructed): Draft {
  const { program, order } = draft.loaded;
  const asked = { program, state: draft.instance.state, subject: subjectOf(order), past: new Map() };
  return applyEvent(draft, contentOf(instruction, asked));
}

/** Undoes an order, or the affected scope of an activity, and tells the orders that have read what is undone. */
export function recovered(draft: Draft, action: Extract<DecidedAction, { kind: 'recover' }>): Draft {
  const recovery = recoveryOf(draft, action);
  return 'event' in recovery ? applyEvent(draft, recovery.event) : draft;
}

/** Returns what a rule wishes for a task. */
export const wishesOf = (
  { group, dueSeconds, text }: Extract<DecidedAction, { kind: 'task' }>,
  executor: Decision['executor'],
): TaskWishes => {
  const people = group ?? executor?.group;
  return {
    ...(people === undefined ? {} : { group: people }),
    ...(dueSeconds === undefined ? {} : { dueSeconds }),
    ...(text === undefined ? {} : { text }),
  };
};

/** Suspends the order, and opens a task of the kind `rule`: a person must resume the order. */
function suspended(draft: Draft, { ruleId, executor }: Decision, acted: Acted): Acted {
  if (acted.how !== 'acted') return acted;
  const text = `The rule ${ruleId} has suspended the order. Resume it, or end it.`;
  const stopped = patchRecord(acted.draft, { suspended: true });
  return {
    ...acted,
    draft: withTask(stopped, `rule/${ruleId}/${draft.record.rev}`, { text, ...(executor?.group ? { group: executor.group } : {}) }),
  };
}

/** Adds a task that a rule asks for beside an exception. */
export const withTask = (draft: Draft, cause: string, wishes: TaskWishes): Draft => {
  const { instance } = draft;
  const tasks = [...(instance.rules?.tasks ?? []).filter((each) => each !== cause), cause];
  return {
    ...draft,
    instance: { ...instance, rules: { ...instance.rules, tasks } },
    wishes: { ...draft.wishes, [cause]: wishes },
    changed: true,
  };
};

/** Returns the path of the activity that an exception is about. A report may be about an activity that has not begun. */
const placeOf = ({ path, fault, reported }: Blocked): string => (reported ? (fault.source ?? path) : path);

/**
 * Returns why an action cannot be carried out at the activity of the exception. The check of a rule sees no order, so it cannot tell this.
 */
export function refusalOf(draft: Draft, blocked: Blocked, action: DecidedAction): string | undefined {
  if (action.kind === 'handle') return handlerRefusal(draft);
  if (action.kind === 'recover') {
    const recovery = recoveryOf(draft, action);
    return 'refusal' in recovery ? recovery.refusal : undefined;
  }
  if (action.kind === 'signal') return signalRefusal(draft, action);
  if (action.kind !== 'skip' && action.kind !== 'replace-input') return undefined;
  const path = placeOf(blocked);
  const { program } = draft.loaded;
  const node = nodeAt(program, path);
  if (!isRemote(node)) return `${action.kind} needs a step, and ${path} is not a step.`;
  const notNow = blocked.reported ? notNowReported(draft, path, action.kind) : notNowFailed(draft, path, action.kind);
  if (notNow !== undefined) return notNow;
  if (action.kind === 'replace-input' && action.path !== path)
    return `it replaces the input of ${action.path}, but the exception is about ${path}.`;
  return action.kind === 'skip' ? outputProblem(draft, node, action.output) : inputProblem(draft, node, action.input);
}

/** Returns why the order cannot keep the signal of a rule. A finished order takes no signals. */
function signalRefusal(draft: Draft, { name, payload }: Extract<DecidedAction, { kind: 'signal' }>): string | undefined {
  const { phase, signals = [] } = draft.instance.state;
  if (phase === 'closed' || applyEvent(draft, { type: 'signaled', name, payload }) !== draft) return undefined;
  const limit =
    signals.length >= limits.signalsMax
      ? `the order keeps ${limits.signalsMax} signals already, which is the limit`
      : `its payload does not fit into the state of the order, which has at most ${limits.stateBytesMax} bytes`;
  return `it cannot send the signal "${name}": ${limit}.`;
}

function notNowFailed({ loaded: { program }, instance: { state } }: Draft, path: string, kind: string): string | undefined {
  if (state.activities[path]?.awaitsPerson !== true) return `${kind} needs a step that has failed, and ${path} has not failed.`;
  const local = stepAt(program, state, path);
  if (local && local.attempt > 0 && local.phase === 'unknown')
    return `the outcome of the last request of ${path} is unknown, so the step may have been done.`;
  return undefined;
}

/** Returns why an action cannot be carried out on the step of an exception from outside. The step must be at work or not begun yet. */
function notNowReported({ loaded: { program }, instance: { state } }: Draft, path: string, kind: string): string | undefined {
  const place = whereIs(program, state, path);
  if (place === 'ahead') return undefined;
  if (place !== 'open') return `${path} is closed, or the order does not reach it.`;
  const { undo, noUndo } = nodeAt(program, path) as RemoteActivity;
  if (kind === 'skip') return undo || noUndo ? undefined : `${path} is at work and has no undo.`;
  return isUnknown(program, state, path) ? `nobody knows what became of the last request of ${path}.` : undefined;
}

type Operation = Pick<RemoteActivity, 'agent' | 'operation'>;

function inputProblem({ settings }: Draft, { agent, operation }: Operation, input: Json): string | undefined {
  if (settings.isValidInput(agent, operation, input)) return undefined;
  return `its input does not match the schema of ${agent}.${operation}.`;
}

function outputProblem({ settings }: Draft, node: Operation, output: Json): string | undefined {
  if (settings.isValidOutput(node.agent, node.operation, output)) return undefined;
  return `its output does not match the schema of ${node.agent}.${node.operation}.`;
}
