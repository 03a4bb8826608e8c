import type { Fault } from '#core/data/fault';
import type { Blocked } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { handedFault, ruleFailed } from '#core/rules/faults';
import type { DecidedAction, Decision } from '#core/rules/situation';
import { instructed, recovered, refusalOf, unknownAction, wishesOf, withTask } from './act-on-exception.ts';
import { addFacts, applyEvent, type Draft, patchRecord, takeClaim } from './draft.ts';
import { handleByRule } from './exception-manager.ts';
import { handlerRefusal } from './handlers.ts';
import { maskIn } from './masking.ts';
import { needsJournal } from './recover-by-rule.ts';
import type { Happened } from './rule-events.ts';
import { watch } from './rule-watches.ts';

/** Carries out the decision of a rule about an event that is not an exception. */
export function actOnEvent(draft: Draft, { event, path }: Happened, decision: Decision): Draft {
  const { ruleId, version, action } = decision;
  if (action.kind === 'handle') return handed(draft, { event, ...(path === undefined ? {} : { path }) }, decision);
  const { phase, ending } = draft.instance.state;
  if (action.kind === 'recover' && (phase === 'closed' || ending || isRecovered(draft, action.path))) return draft;
  if (needsJournal(draft, action)) return { ...draft, needs: 'journal' };
  const place = action.kind === 'replace-input' ? action.path : path;
  const refusal = refusalOf(draft, asReported(place), action);
  if (refusal !== undefined) return acted(draft, { decision, path, eventId: event.id, action: failing(ruleId, refusal) });
  const noted = addFacts(draft, [{ type: 'RuleActed', ruleId, version, action }]);
  const watched = watch(noted, decision, place === undefined ? {} : { path: place });
  return acted(watched, { decision, path: place, eventId: event.id, action });
}

/** Whether a recovery that a person or another rule has begun undoes this activity already. */
const isRecovered = (draft: Draft, path: string = rootPath): boolean => maskIn(draft)?.covers(path) ?? false;

/** Makes the event an exception of this order, and at once has another order handle the exception. */
function handed(draft: Draft, { event, path }: Happened, decision: Decision): Draft {
  const { phase, ending } = draft.instance.state;
  const fails = (why: string): Draft => acted(draft, { decision, path, eventId: event.id, action: failing(decision.ruleId, why) });
  if (phase === 'closed' || ending) return draft;
  if (phase !== 'running' || draft.record.suspended)
    return fails('it cannot have another order handle an event of an order that is stopped.');
  const refusal = handlerRefusal(draft);
  if (refusal !== undefined) return fails(refusal);
  const fault = handedFault(decision.ruleId, event.kind, event.type, path);
  return handleByRule(applyEvent(draft, { type: 'reported', fault }), decision);
}

/** An action about a step that has not failed is checked like an action about an exception from outside. */
const asReported = (source: string | undefined): Blocked => ({
  path: rootPath,
  fault: { type: '', class: 'expected', permanent: true, message: '', ...(source === undefined ? {} : { source }) },
  at: 0,
  reported: true,
});

const failing = (ruleId: string, refusal: string): DecidedAction => ({
  kind: 'raise',
  fault: ruleFailed(ruleId, refusal),
  toPerson: true,
  round: 0,
});

interface Acting {
  readonly decision: Decision;
  readonly path: string | undefined;
  readonly eventId: string;
  readonly action: DecidedAction;
}

function acted(draft: Draft, acting: Acting): Draft {
  const { action, path, decision } = acting;
  const rule = { id: decision.ruleId, version: decision.version };
  const { phase } = draft.instance.state;
  if (action.kind === 'task') return asked(draft, acting, wishesOf(action, decision.executor));
  if (action.kind === 'raise') return raised(draft, acting, action.fault, action.toPerson);
  if (phase === 'closed') return draft;
  switch (action.kind) {
    case 'retry':
      // A blocked order requests nothing.
      return path === undefined || draft.instance.state.blocked
        ? draft
        : applyEvent(draft, { type: 'decided', rule, path, action: { kind: 'retry', afterSeconds: action.afterSeconds } });
    case 'skip':
      return instructed(draft, { kind: 'skip', path: path ?? '', output: action.output, effect: 'none' });
    case 'replace-input':
      return instructed(draft, { kind: 'replace-input', path: action.path, input: action.input });
    case 'compensate':
      return compensated(draft, decision);
    case 'recover':
      return recovered(freed(draft, decision), action);
    case 'suspend':
      return suspended(draft, acting);
    case 'signal':
      return applyEvent(draft, { type: 'signaled', name: action.name, payload: action.payload });
    case 'announce':
    case 'compensate-with':
    case 'handle':
      return draft;
    default:
      return unknownAction(action, draft);
  }
}

/**
 * Raises a fault at the step of the event, whose handlers come first; if that step is not open, reports the fault. An order that is not
 * running, or is being ended or suspended, gets a task instead.
 */
function raised(draft: Draft, acting: Acting, fault: Fault, toPerson: boolean): Draft {
  const { decision, path } = acting;
  const { phase, ending } = draft.instance.state;
  if (phase !== 'running' || ending || draft.record.suspended) return asked(draft, acting, { text: fault.message });
  const rule = { id: decision.ruleId, version: decision.version };
  const atStep =
    toPerson || path === undefined
      ? draft
      : applyEvent(draft, { type: 'decided', rule, path, action: { kind: 'raise', fault, toPerson: false } });
  if (atStep !== draft) return atStep;
  return applyEvent(draft, { type: 'reported', fault: { ...fault, ...(path === undefined ? {} : { source: path }) } });
}

/** Asks a person: by the task of the exception that this write opens, or else by a task for the event alone. */
function asked(draft: Draft, { decision, eventId }: Acting, wishes: Parameters<typeof withTask>[2]): Draft {
  const { diagnosis } = draft;
  if (diagnosis && diagnosis.blocked === draft.instance.state.blocked)
    return { ...draft, diagnosis: { ...diagnosis, wishes: { ...diagnosis.wishes, ...wishes } } };
  return withTask(draft, `rule/${decision.ruleId}/${eventId}`, wishes);
}

/** Suspends the order, and opens a task. An order in Error only gets the task, because it begins no new work anyway. */
function suspended(draft: Draft, acting: Acting): Draft {
  const { decision } = acting;
  const isInError = draft.instance.state.blocked !== undefined || draft.record.processState === 'Error';
  const text = isInError
    ? `The rule ${decision.ruleId} would suspend the order, but the order is in Error. Decide how it goes on.`
    : `The rule ${decision.ruleId} has suspended the order. Resume it, or end it.`;
  const wishes = { text, ...(decision.executor?.group ? { group: decision.executor.group } : {}) };
  if (draft.record.suspended || isInError) return asked(draft, acting, wishes);
  return asked(patchRecord(applyEvent(draft, { type: 'suspended' }), { suspended: true }), acting, wishes);
}

/** Begins to undo the order, even if it is in Error or suspended. */
const compensated = (draft: Draft, decision: Decision): Draft =>
  draft.instance.state.ending ? draft : applyEvent(freed(draft, decision), { type: 'canceled', outcome: 'compensated' });

/** Lets an order that is in Error or suspended go on. */
function freed(draft: Draft, { ruleId }: Decision): Draft {
  const next = patchRecord({ ...draft, ruledBy: ruleId }, { processState: 'Processing', fault: null, suspended: false });
  return next.record.lockedBy === null ? takeClaim(next) : next;
}
