import { type Fault, isQuestion, shortType, tagsOf } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import { fits, type Json, type JsonObject } from '#core/data/json';
import type { People } from '#core/definition/people';
import { type Condition, type ExceptionRecord, exceptionLimits, type Handling } from '#core/exceptions/exception';
import { exceptionFingerprint } from '#core/exceptions/fingerprint';
import { isJudged } from '#core/exceptions/verdict';
import type { UsedSolution } from '#core/solutions/solution';
import { announcedAs, type FaultSummary, type OpenCause, type OutboxEntry, openCausesMax, type StateHead } from '#ports/records';
import type { TaskKind, TaskRecord } from '#ports/tasks';
import { shortened } from '#ports/util/text';
import { exceptionIdOf, taskIdOf } from './ids.ts';

/** The time that a person has for a task, unless its workflow says otherwise. */
export const taskDueMs = 14_400_000;

/** A cause that has come up. Its fault has no secrets any more. */
export interface Cause {
  /** Its name within the order: see `OpenCause`. */
  readonly name: string;
  readonly fault: Pick<Fault, 'type' | 'class' | 'message' | 'permanent' | 'data' | 'source' | 'tags' | 'groupBy' | 'outcomeUnknown'>;
  readonly before: Condition;
  readonly after: Condition;
  /** The number of the step's attempt; for other activities, the failure count of the order. */
  readonly attempt: number;
  /** The JSON Schema of the answer, if the fault is a question. */
  readonly answer?: JsonObject | undefined;
  /** The cause is an undo that keeps failing. */
  readonly isUndo?: true;
  /** The wishes of a rule for the task, and the rules that did not act. */
  readonly wishes?: TaskWishes | undefined;
  /** The people for whom the task is. */
  readonly people?: People | undefined;
  /** The cause has no exception, but only a task that a rule has asked for. */
  readonly isTaskAlone?: true;
  /** The id of the exception of which this one is a consequence. */
  readonly causedBy?: string | undefined;
}

/** The values that rules give to the task of a cause. */
export interface TaskWishes extends Pick<TaskRecord, 'group' | 'text' | 'candidates'> {
  readonly dueSeconds?: number;
}

/** The change of the order's head, and the outbox entry with the records and announcements that follow. */
export interface Opened {
  readonly change: Pick<StateHead, 'causes' | 'open'>;
  readonly entry: OutboxEntry;
}

/** Opens a cause: its exception and its task are part of the same write as the change that they report. Undefined for a failing undo of an order with too many open causes. */
export function opened(
  head: Pick<StateHead, 'orderId' | 'submittedAt' | 'workflow' | 'causes' | 'open'>,
  cause: Cause,
  at: number,
): Opened | undefined {
  const { causes = 0, open = [] } = head;
  // Only a failing undo may go without a cause: an order in Error always has one.
  if (cause.isUndo && open.length >= openCausesMax) return undefined;
  const seq = causes + 1;
  const asks = isQuestion(cause.fault) || cause.isTaskAlone === true;
  const exception = asks ? undefined : exceptionFor(head, cause, seq, at);
  const one: OpenCause = { seq, cause: cause.name, at, ...(asks ? { isQuestion: true as const } : {}) };
  return {
    change: { causes: seq, open: [...open, one] },
    entry: {
      id: `${announcedAs(head)}/cause/${seq}`,
      kind: 'opened',
      ...(exception ? { exception } : {}),
      task: taskOf(head, cause, exception, seq, at),
    },
  };
}

/** Returns the entry of an exception that a rule has handled in the write that detected it. It has no task. */
export const handledAtOnce = (
  head: Pick<StateHead, 'orderId' | 'submittedAt' | 'workflow'>,
  cause: Cause,
  seq: number,
  handling: Handling,
): OutboxEntry => {
  const { taskId: _, ...exception } = exceptionFor(head, cause, seq, handling.at);
  return { id: `${announcedAs(head)}/cause/${seq}`, kind: 'opened', exception: { ...exception, handling } };
};

/**
 * Opens an exception that came from outside, for an order that is stopped already. It joins the open task of the order; without one, it has
 * a task of its own.
 */
export function reported(
  head: Pick<StateHead, 'orderId' | 'submittedAt' | 'workflow' | 'causes' | 'open'>,
  cause: Omit<Cause, 'name'>,
  at: number,
): Opened {
  const { causes = 0, open = [] } = head;
  const seq = causes + 1;
  const withTask = open.find(({ hasNoTask }) => !hasNoTask);
  const found = exceptionFor(head, { ...cause, name: '' }, seq, at);
  const exception = withTask ? { ...found, taskId: taskIdOf(head.orderId, withTask.seq) } : found;
  const { path, fingerprint } = exception;
  const one: OpenCause = {
    seq,
    cause: `${reportPrefix}${seq}`,
    at,
    ...(withTask ? { hasNoTask: true as const } : { ...(path === null ? {} : { path }), fingerprint }),
  };
  const task = withTask ? {} : { task: taskOf(head, { ...cause, name: one.cause }, exception, seq, at) };
  return {
    change: { causes: seq, open: [...open, one] },
    entry: { id: `${announcedAs(head)}/cause/${seq}`, kind: 'opened', exception, ...task },
  };
}

/** Prefix of the name of a cause that came from outside while the order was stopped. */
export const reportPrefix = 'report/';
/** Whether an open cause is an exception from outside that came while the order was stopped. */
export const isReport = ({ cause }: Pick<OpenCause, 'cause'>): boolean => cause.startsWith(reportPrefix);
/** One order has at most this many open exceptions from outside at the same time. */
export const openReportsMax = 5;

/** The decision of a person that ends a cause. */
export interface PersonsDecision {
  readonly by: string;
  readonly reason: string;
  /** The instruction, without secrets. */
  readonly instruction: JsonObject & { readonly kind: string };
  /** The solution that gave the instruction, or that was made of it. */
  readonly solution?: UsedSolution;
  /** The tasks that rules and the monitor have opened stay open. */
  readonly leavesTasks?: true;
}

/** Closes a cause. `handling` says who ended it. */
export function closed(
  head: Pick<StateHead, 'orderId' | 'submittedAt' | 'open'>,
  { seq, isQuestion: asks, hasNoTask }: OpenCause,
  handling: Handling,
  decision: PersonsDecision | undefined,
): Omit<Opened, 'change'> & { readonly change: Pick<StateHead, 'open'> } {
  const { orderId, submittedAt, open = [] } = head;
  return {
    change: { open: open.filter((each) => each.seq !== seq) },
    entry: {
      id: `${announcedAs(head)}/cause/${seq}/closed`,
      kind: 'closed',
      orderId,
      submittedAt,
      seq,
      hasException: asks === undefined,
      ...(hasNoTask ? { hasNoTask } : {}),
      handling,
      reason: decision?.reason ?? null,
      ...(decision ? { instruction: decision.instruction } : {}),
      ...(decision?.solution ? { solution: decision.solution } : {}),
      ...(decision && isJudged(decision.instruction.kind) ? { isVerified: true as const } : {}),
    },
  };
}

type Head = Pick<StateHead, 'orderId' | 'submittedAt' | 'workflow'>;

/** Returns the exception of a new cause, which nobody has handled yet. */
export function exceptionFor(
  { orderId, submittedAt, workflow }: Head,
  { fault, before, after, attempt, causedBy }: Cause,
  seq: number,
  at: number,
): ExceptionRecord {
  const path = fault.source ?? null;
  const { data } = fault;
  return {
    id: exceptionIdOf(orderId, seq),
    orderId,
    seq,
    submittedAt,
    workflow,
    path,
    step: path === null ? null : definitionPath(path),
    type: shortType(fault.type),
    class: fault.class,
    tags: tagsOf(fault),
    message: shortened(fault.message, exceptionLimits.messageCharactersMax),
    ...(fitsException(data) ? { data } : {}),
    before,
    after,
    attempt,
    at,
    fingerprint: exceptionFingerprintOf({ workflow }, { fault }),
    ...(fault.groupBy ? { groupBy: fault.groupBy } : {}),
    handling: null,
    ...(causedBy === undefined ? {} : { causedBy }),
    taskId: taskIdOf(orderId, seq),
  };
}

/** Returns the fingerprint of a cause. Above the limit of fingerprints, the record of its exception has the common fingerprint instead. */
export const exceptionFingerprintOf = ({ workflow }: Pick<Head, 'workflow'>, { fault }: Pick<Cause, 'fault'>): string =>
  exceptionFingerprint({ workflow: workflow.name, path: fault.source ?? null, fault });

const fitsException = (data: Json | undefined): data is Json => data !== undefined && fits(data, exceptionLimits.dataBytesMax);

function taskOf(
  { orderId, submittedAt, workflow }: Head,
  {
    fault,
    answer,
    isUndo,
    isTaskAlone,
    people: { group, every, escalateTo, ...people } = {},
    wishes: { dueSeconds = people.dueSeconds, ...wishes } = {},
  }: Cause,
  exception: ExceptionRecord | undefined,
  seq: number,
  at: number,
): Omit<TaskRecord, 'rev'> {
  const question = {
    text: shortened(fault.message, exceptionLimits.messageCharactersMax),
    schema: answer ?? null,
    ...(fitsException(fault.data) ? { details: fault.data } : {}),
  };
  return {
    id: taskIdOf(orderId, seq),
    orderId,
    submittedAt,
    seq,
    workflow,
    kind: isTaskAlone ? 'rule' : kindOf(fault, isUndo),
    state: 'open',
    openedAt: at,
    dueAt: at + (dueSeconds === undefined ? taskDueMs : dueSeconds * 1000),
    ...(exception ? { exceptionId: exception.id, fingerprint: exception.fingerprint, fault: summaryOf(exception, fault) } : {}),
    ...(exception || isTaskAlone ? {} : { question }),
    ...(group === undefined ? {} : { group }),
    ...(every === undefined ? {} : { every }),
    ...(escalateTo === undefined ? {} : { escalateTo }),
    ...wishes,
  };
}

const summaryOf = ({ type, class: faultClass, message, path, data }: ExceptionRecord, { permanent }: Cause['fault']): FaultSummary => ({
  type,
  class: faultClass,
  message,
  permanent,
  ...(path === null ? {} : { source: path }),
  ...(data === undefined ? {} : { data }),
});

/** The type of the exception of an order that has read what another one has undone. */
export const inconsistencyFault = 'Inconsistent';

/** Faults after which the effect of the step may exist: a person must find that out before anything else. */
const unknown: ReadonlySet<string> = new Set(['InvalidReply', 'OutcomeUnknown']);

function kindOf({ type }: Cause['fault'], isUndo: true | undefined): TaskKind {
  if (isUndo) return 'undo-stuck';
  if (isQuestion({ type })) return 'question';
  if (type === inconsistencyFault) return 'inconsistency';
  return unknown.has(shortType(type)) ? 'outcome-unknown' : 'fault';
}
