import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import type { Status } from '#core/data/state';
import { peopleOf } from '#core/definition/people';
import { nodeAt, stepAt } from '#core/definition/program';
import type { Condition, Handling } from '#core/exceptions/exception';
import { ruleFaults } from '#core/rules/faults';
import type { AskedRule } from '#core/rules/situation';
import type { OpenCause } from '#ports/records';
import { type Cause, closed, exceptionFor, isReport, opened } from '#roles/exceptions/causes';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { addFacts, addToOutbox, current, type Draft, failureCountOf, newDraft, patchRecord } from './draft.ts';
import type { OrderFact } from './instance.ts';
import { secretsOf } from './redaction.ts';
import { withoutSecrets } from './replies.ts';
import { watchInstruction } from './task-watches.ts';

/**
 * Opens an exception and a task for each cause that has come up, and closes those of the causes that are gone. Comparing states, rather
 * than following events, also covers what the supervisor did, and orders of an older release.
 */
export function recordCauses(draft: Draft): Draft {
  const causes = causesOf(draft);
  const names = new Set(causes.map(({ name }) => name));
  const known = draft.record.open ?? [];
  const stays = (each: OpenCause): boolean => standsStill(draft) || isReportedLater(draft) || draft.raised?.includes(each.seq) === true;
  const gone = known.filter((each) => !names.has(each.cause) && !(isReport(each) && stays(each)));
  const isKnown = ({ name }: Cause): boolean => known.some(({ cause }) => cause === name);
  return causes.filter((cause) => !isKnown(cause)).reduce(open, gone.reduce(close, draft));
}

/** Whether an order stays in Error, suspended or in an undo, and nobody has decided about it. Its reports stay open meanwhile. */
const standsStill = ({ record, instance: { state }, decidedBy }: Draft): boolean =>
  state.phase !== 'closed' &&
  (decidedBy === undefined || decidedBy.leavesTasks === true) &&
  (record.processState === 'Error' || record.suspended || state.ending !== undefined);

/** Whether the order had ended before this write, and no person decides now. A report after the end stays open until a person decides. */
const isReportedLater = ({ loaded, decidedBy }: Draft): boolean => loaded.instance.state.phase === 'closed' && decidedBy === undefined;

function open(draft: Draft, cause: Cause): Draft {
  const result = opened(draft.record, cause, draft.now);
  if (!result) return draft;
  const next = addToOutbox(patchRecord(draft, result.change), [result.entry]);
  return cause.isUndo ? addFacts(next, detectionOf(draft, cause, result.change.causes ?? 0, [])) : next;
}

function close(draft: Draft, cause: OpenCause): Draft {
  const { phase, ending } = draft.instance.state;
  const { decidedBy, ruledBy } = draft;
  const control = phase === 'closed' || ending ? 'none' : 'ready';
  const rule = ruledBy === undefined ? undefined : { by: 'rule' as const, id: ruledBy };
  const by = decidedBy ? { by: 'person' as const, id: decidedBy.by } : (rule ?? { by: 'supervisor' as const });
  return closeCause(draft, cause, { ...by, control, at: draft.now });
}

/** Closes a cause: its exception is handled, and its task resolved. */
export function closeCause(draft: Draft, cause: OpenCause, handling: Handling): Draft {
  const { change, entry } = closed(draft.record, cause, handling, draft.decidedBy);
  const next = watchInstruction(addToOutbox(patchRecord(draft, change), [entry]), cause, causeBefore(draft, cause));
  if (cause.isQuestion) return next;
  return addFacts(next, [{ type: 'ExceptionHandled', exceptionId: exceptionIdOf(draft.record.orderId, cause.seq), handling }]);
}

/** Returns an open cause as it was before this transition. */
function causeBefore({ loaded, now, settings }: Draft, { cause }: OpenCause): Cause | undefined {
  return causesOf(newDraft(loaded, now, settings)).find(({ name }) => name === cause);
}

/** Returns the facts of the first two phases of an exception. */
export function detectionOf(
  { record, now }: Draft,
  cause: Cause,
  seq: number,
  rules: readonly AskedRule[],
  by?: string,
): readonly OrderFact[] {
  const { id: exceptionId, class: faultClass, fingerprint } = exceptionFor(record, cause, seq, now);
  return [
    { type: 'ExceptionDetected', exceptionId, ...(by === undefined ? {} : { by }) },
    { type: 'ExceptionDiagnosed', exceptionId, class: faultClass, fingerprint, rules },
  ];
}

/** Returns what needs a person at the end of a transition: the fault of an order in Error, each failing undo, and the tasks of rules. */
function causesOf(draft: Draft): readonly Cause[] {
  return [...errorOf(draft), ...stuckUndosOf(draft), ...tasksOfRules(draft)];
}

/** Returns the tasks that rules ask for beside an exception. They stay until a person decides about the order, or it ends. */
const tasksOfRules = (draft: Draft): readonly Cause[] =>
  (draft.instance.rules?.tasks ?? []).map((name) => ({
    ...causeOf(draft, name, engineFault(ruleFaults.asked, 'A rule asks for a person.')),
    isTaskAlone: true,
    wishes: draft.wishes?.[name],
  }));

function errorOf(draft: Draft): readonly Cause[] {
  const { record, instance, loaded } = draft;
  const fault = instance.state.blocked?.fault ?? record.fault;
  if (record.processState !== 'Error' || !fault) return [];
  const node = fault.source === undefined ? undefined : nodeAt(loaded.program, fault.source);
  const answer = node?.activity === 'askOperator' ? node.answer : undefined;
  const { diagnosis } = draft;
  const found = diagnosis && diagnosis.blocked === instance.state.blocked ? { wishes: diagnosis.wishes, causedBy: diagnosis.causedBy } : {};
  const asked = node?.activity === 'askOperator' ? { people: peopleOf(draft.settings.peopleFor?.(record.workflow), node.people) } : {};
  return [{ ...causeOf(draft, `error/${record.errorGen}`, fault, answer), ...asked, ...found }];
}

function stuckUndosOf(draft: Draft): readonly Cause[] {
  const { program } = draft.loaded;
  const { state } = draft.instance;
  return Object.entries(state.activities).flatMap(([path, { marked }]) =>
    // An undo that a person has marked as done needs nobody, although it closes only when the order goes on.
    !marked && stepAt(program, state, path)?.reminders
      ? [{ ...causeOf(draft, `undo/${path}`, undoFaultOf(draft, path)), isUndo: true }]
      : [],
  );
}

/** Returns the last fault of a failing undo, from the newest lines of the journal. If they have none, its agent did not answer. */
function undoFaultOf({ instance }: Draft, path: string): Fault {
  const last = instance.tail.findLast((fact) => fact.type === 'UndoFailed' && fact.path === path && fact.fault);
  const fault = last?.type === 'UndoFailed' ? last.fault : undefined;
  return { ...(fault ?? engineFault(engineFaults.deadlineExceeded, 'The agent of the undo does not answer.')), source: path };
}

export function causeOf(draft: Draft, name: string, fault: Cause['fault'], answer?: JsonObject): Cause {
  const { loaded, instance, record } = draft;
  const path = fault.source;
  const statusIn = (activities: Draft['instance']['state']['activities']): Status | null =>
    path === undefined ? null : (activities[path]?.status ?? null);
  const before: Condition = { processState: loaded.record.processState, status: statusIn(loaded.instance.state.activities) };
  const after: Condition = { processState: record.processState, status: statusIn(instance.state.activities) };
  const step = path === undefined ? undefined : stepAt(loaded.program, instance.state, path);
  const attempt = step?.attempt ?? failureCountOf(draft);
  const people = draft.settings.peopleFor?.(record.workflow);
  return { name, fault: withoutSecrets(fault as Fault, secretsOf(current(draft))), before, after, attempt, answer, people };
}
