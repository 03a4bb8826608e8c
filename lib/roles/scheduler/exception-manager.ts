import { type Fault, isQuestion } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import type { Blocked } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { ExceptionRecord, Handling } from '#core/exceptions/exception';
import { type Decided, decide } from '#core/rules/decide';
import { ruleFaults } from '#core/rules/faults';
import { isAnyOutputRead, isAnyRuleAbout } from '#core/rules/rule-set';
import type { Decision, RuleEvent } from '#core/rules/situation';
import type { OpenCause } from '#ports/records';
import { type Cause, exceptionFor, handledAtOnce, type TaskWishes } from '#roles/exceptions/causes';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { type Acted, actOnException } from './act-on-exception.ts';
import { addFacts, addToOutbox, type Draft, patchRecord } from './draft.ts';
import { givenHandler } from './given-handlers.ts';
import { beginHandler } from './handlers.ts';
import type { OrderFact } from './instance.ts';
import { noteDecided } from './note-decided.ts';
import { causeOf, closeCause, detectionOf } from './record-causes.ts';
import { valuesAt } from './rule-values.ts';

/** Rules handle at most this many exceptions in one write. The next exception goes to a person. */
const timesMax = 12;

/**
 * The exception manager (WSEHF): a fault that no handler of its scopes takes has stopped the order. The manager detects and diagnoses the
 * exception and asks the rules, all in the write that stops the order. If no rule acts, a person decides.
 */
export function askRules(draft: Draft): Draft {
  let next = draft;
  let origin: Origin = { round: draft.rulesRound ?? 0 };
  for (let time = 0; time < timesMax && next.needs === undefined; time++) {
    const { blocked } = next.instance.state;
    const isKnown = blocked === draft.loaded.instance.state.blocked || blocked === next.diagnosis?.blocked;
    if (!blocked || isQuestion(blocked.fault) || isKnown) return next;
    const found = detect(next, blocked, origin);
    const managed = manage(next, found, origin);
    if (!managed.goesOn) return managed.draft;
    next = managed.draft;
    origin = { round: managed.round, causedBy: found.exception.id };
  }
  return next;
}

/** Handles the exception that stops the order, as a rule has decided. No other rule is asked. */
export function handleByRule(draft: Draft, decision: Decision): Draft {
  const { blocked } = draft.instance.state;
  if (!blocked) return draft;
  const found = detect(draft, blocked, { round: 0 });
  const { seq, fingerprint } = found.exception;
  const asked = [{ id: decision.ruleId, version: decision.version, matched: true }];
  const acted = actOnException(addFacts(draft, detectionOf(draft, found.cause, seq, asked)), { blocked, seq, fingerprint }, decision);
  if (acted.how !== 'acted') return draft;
  return handled(acted.draft, found, { by: 'rule', id: decision.ruleId, control: acted.control, at: draft.now });
}

/** The exception from which a rule raised the present one. `round`: the number of rules in a row that have led to the present one. */
interface Origin {
  readonly round: number;
  readonly causedBy?: string;
}

export interface Detected {
  readonly blocked: Blocked;
  readonly cause: Cause;
  readonly exception: ExceptionRecord;
  /** The cause that the supervisor has opened for the same fault. */
  readonly open: OpenCause | undefined;
}

function detect(draft: Draft, blocked: Blocked, origin: Origin): Detected {
  const { record, reported } = draft;
  const open = record.processState === 'Error' ? record.open?.find(({ cause }) => cause === `error/${record.errorGen}`) : undefined;
  const stopped = record.processState === 'Error' ? draft : { ...draft, record: { ...record, processState: 'Error' as const } };
  const seq = open?.seq ?? (record.causes ?? 0) + 1;
  const causedBy = origin.causedBy ?? (reported?.seq === seq ? reported.causedBy : undefined);
  const cause: Cause = { ...causeOf(stopped, 'error', blocked.fault), ...(causedBy === undefined ? {} : { causedBy }) };
  const exception = exceptionFor(record, cause, seq, draft.now);
  return { blocked, cause, exception, open };
}

type Managed =
  /** `wishes`, `problem`: see `Acted`. */
  | { readonly goesOn: false; readonly draft: Draft; readonly wishes?: TaskWishes; readonly problem?: Fault }
  /** A rule acted. The order may be blocked again, in the given round. */
  | { readonly goesOn: true; readonly draft: Draft; readonly round: number; readonly ruleId: string };

/** Diagnoses an exception, asks the rules, and carries out what they decide. */
export function manage(draft: Draft, detected: Detected, origin: Origin): Managed {
  const { blocked, cause, exception } = detected;
  const given = givenHandler(draft, blocked, exception.fingerprint);
  if (given) return managedByGiven(given, detected);
  const decided = decisionsFor(draft, detected, origin);
  if (decided === 'needs journal') return { goesOn: false, draft: { ...draft, needs: 'journal' } };
  const by = draft.reported?.seq === exception.seq ? draft.reported.by : undefined;
  const facts = detectionOf(draft, cause, exception.seq, decided?.asked.slice(0, askedMax) ?? [], by);
  const diagnosed = decided ? noteDecided(addFacts(draft, facts), decided, exception.id) : addFacts(draft, facts);
  const main = decided?.decisions.find(({ mode, action }) => mode === 'enforce' && action.kind !== 'announce');
  const { seq, fingerprint } = exception;
  const acted: Acted = main ? actOnException(diagnosed, { blocked, seq, fingerprint }, main) : { how: 'left' };
  if (acted.how === 'acted' && main) {
    const handling: Handling = { by: 'rule', id: main.ruleId, control: acted.control, at: draft.now };
    return { goesOn: true, draft: handled(acted.draft, detected, handling), round: acted.round, ruleId: main.ruleId };
  }
  const wishes = { ...(acted.how === 'left' ? acted.wishes : {}), ...candidatesIn(decided) };
  const waiting = acted.how === 'left' ? (acted.draft ?? diagnosed) : diagnosed;
  const problem = acted.how === 'left' && acted.problem ? { problem: acted.problem } : {};
  return { goesOn: false, draft: { ...waiting, diagnosis: { blocked, wishes, causedBy: cause.causedBy } }, wishes, ...problem };
}

/** Has an exception handled by the workflow that a person has given to this order for such exceptions. No rule is asked. */
function managedByGiven({ draft, decision }: NonNullable<ReturnType<typeof givenHandler>>, detected: Detected): Managed {
  const { blocked, cause, exception } = detected;
  const { ruleId, version, action } = decision;
  const asked = [{ id: ruleId, version, matched: true }];
  const facts = [...detectionOf(draft, cause, exception.seq, asked), { type: 'RuleActed', ruleId, version, action } as const];
  const begun = beginHandler(addFacts(draft, facts), decision, action, { blocked, seq: exception.seq });
  const handling: Handling = { by: 'rule', id: ruleId, control: action.control, at: draft.now };
  return { goesOn: true, draft: handled(begun, detected, handling), round: 0, ruleId };
}

/** The history names at most this many of the rules that were asked about an exception. */
const askedMax = 20;

const candidatesIn = (decided: Decided | undefined): Pick<TaskWishes, 'candidates'> =>
  decided && decided.candidates.length > 0 ? { candidates: decided.candidates } : {};

/** Asks the rules about an exception. Undefined if no rule is about exceptions, or if the exception is the failure of a rule. */
function decisionsFor(draft: Draft, { exception, blocked }: Detected, { round }: Origin): Decided | undefined | 'needs journal' {
  const { rules } = draft.settings;
  const { workflow, orderId } = draft.record;
  if (!rules || !isAnyRuleAbout(rules, 'exception', workflow.name) || isOfRule(blocked.fault)) return undefined;
  if (!draft.loaded.pages && isAnyOutputRead(rules, 'exception', workflow.name)) return 'needs journal';
  const event: RuleEvent = { ...eventOf(draft, exception, blocked), ...(round > 0 ? { round } : {}) };
  const values = valuesAt(draft, exception.path ?? undefined, exception);
  return decide(rules, { orderId, workflow, event, values }, draft.instance.rules?.memory);
}

/** Whether the fault says that a rule failed or was stopped. Then a person decides, and no other rule is asked. */
const isOfRule = ({ type }: Fault): boolean => type === ruleFaults.failed || type === ruleFaults.stopped;

function eventOf({ loaded: { program } }: Draft, exception: ExceptionRecord, { fault, at }: Blocked): RuleEvent {
  const { path, seq, class: faultClass, fingerprint } = exception;
  const node = path === null ? undefined : nodeAt(program, path);
  return {
    id: `exc-${seq}`,
    kind: 'exception',
    at,
    type: fault.type,
    class: faultClass,
    fingerprint,
    ...(path === null ? {} : { step: definitionPath(path) }),
    ...(node && isRemote(node) ? { agent: node.agent } : {}),
  };
}

/** Records an exception that a rule has handled. If the supervisor has put the order into Error, the order leaves Error. */
function handled(draft: Draft, { cause, exception, open }: Detected, handling: Handling): Draft {
  const freed = draft.record.processState === 'Error' ? patchRecord(draft, { processState: 'Processing', fault: null }) : draft;
  if (open) return closeCause(freed, open, handling);
  const counted = patchRecord(freed, { causes: exception.seq });
  const fact: OrderFact = { type: 'ExceptionHandled', exceptionId: exceptionIdOf(draft.record.orderId, exception.seq), handling };
  return addToOutbox(addFacts(counted, [fact]), [handledAtOnce(draft.record, cause, exception.seq, handling)]);
}
