import { shortType } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { Amended } from '#core/data/state';
import type { Program } from '#core/definition/program';
import { mask, masked, secretPointers } from '#core/definition/secrets';
import type { UndoProgress } from '#core/views/undo-progress';
import { timeText } from '#ports/messages';
import type { FaultSummary, OrderRecord, StateHead } from '#ports/records';
import { isReport } from '#roles/exceptions/causes';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { remainingSecondsOf } from '#roles/operator/feasibility';
import { isReleased, lockHolderOf } from '#roles/scheduler/lease';
import type { Caller } from './authentication.ts';
import { boundedSteps } from './bounded.ts';
import type { LastInstruction, ShownInstruction } from './given-instructions.ts';
import type { MaskedFaults } from './masked-faults.ts';
import { type Followed, type OrderWait, type Outage, waitOfHead, waitOfOrder } from './order-waits.ts';

/** Views of an order for each role. Only the fields named here are shown. */

/** Whether the caller sees every order with its internals: a viewer, an operator or an admin. Clients see their own orders without them. */
export const seesAll = (caller: Caller): boolean => caller.roles.has('viewer');

export const isOperator = (caller: Caller): boolean => caller.roles.has('operator');

export const maySee = (caller: Caller, { client }: { readonly client: string }): boolean =>
  seesAll(caller) || (caller.client !== undefined && caller.client === client);

export const listedOrder = (order: OrderRecord, state: StateHead, program: Program | undefined, caller: Caller) =>
  seesAll(caller)
    ? { ...operatorPart(order, state), waitsFor: orderWaitView(waitOfHead(state, program)), ...internalPart(state) }
    : clientPart(order, state);

/** The parts of an order that are read from its instance and its journal. */
export interface ReadOrder {
  readonly followed: readonly Followed[];
  readonly program: Program | undefined;
  readonly explanation: string | null;
  readonly output: Json | undefined;
  /** The time limit of the whole order: milliseconds since 1970. */
  readonly endBy: number | undefined;
  /** The settings that a person has changed for this order alone. */
  readonly amended?: Amended | undefined;
  /** The progress of the undo. Only operators see it. */
  readonly undo?: UndoProgress | undefined;
  /** The faults that recoveries have masked. Only operators see them. */
  readonly maskedFaults?: MaskedFaults | undefined;
  /** The last instruction of a person, and the one that has ended the order or has it undone. Only operators see them. */
  readonly lastInstruction?: LastInstruction | undefined;
  readonly endedBy?: ShownInstruction | undefined;
}

export const fullOrder = (order: OrderRecord, state: StateHead, read: ReadOrder, caller: Caller) =>
  seesAll(caller) ? orderForOperators(order, state, read) : orderForClient(order, state, read);

/** A client sees its order from outside: how far it is, and the type of the fault alone. */
function orderForClient(order: OrderRecord, state: StateHead, read: ReadOrder) {
  const steps = read.followed.filter(({ agent }) => agent !== null).map(({ name, status, result }) => ({ name, status, result }));
  return { ...withOutput(clientPart(order, state), read), endBy: endByOf(state, read), ...boundedSteps(order.orderId, steps) };
}

function orderForOperators(order: OrderRecord, state: StateHead, read: ReadOrder) {
  const { followed, program, explanation } = read;
  return {
    ...withOutput(operatorPart(order, state), read),
    endBy: endByOf(state, read),
    waitsFor: orderWaitView(waitOfOrder(state, program, followed)),
    ...boundedSteps(
      order.orderId,
      followed.map((each) => followedView(state.suspended && each.status !== 'Closed' ? { ...each, completeBy: null } : each)),
    ),
    ...(read.undo ? { undo: undoView(read.undo) } : {}),
    ...(read.maskedFaults ? { maskedFaults: read.maskedFaults } : {}),
    ...(read.lastInstruction ? { lastInstruction: read.lastInstruction } : {}),
    ...(read.endedBy ? { endedBy: read.endedBy } : {}),
    ...(read.amended ? { amended: amendedView(read.amended) } : {}),
    ...internalPart(state),
    order: withoutSecrets(order.body, program),
    explanation,
  };
}

const withOutput = <Part extends object>(part: Part, { output }: ReadOrder) => ({ ...part, ...(output === undefined ? {} : { output }) });

/** While an order is suspended, its time limit stands still like its other deadlines. */
const endByOf = ({ suspended }: StateHead, { endBy }: ReadOrder): string | null => (suspended ? null : timeOrNull(endBy ?? null));

const undoView = ({ stuck, ...undo }: UndoProgress) => ({
  ...undo,
  stuck: stuck.map(({ nextAt, lastFault, ...each }) => ({
    ...each,
    lastFault: lastFault && { ...lastFault, type: shortType(lastFault.type) },
    nextAt: timeOrNull(nextAt),
  })),
});

const amendedView = ({ endBy, retry, ...amended }: Amended) => ({
  ...(endBy === undefined ? {} : { endBy: timeText(endBy) }),
  ...amended,
  ...(retry ? { retry: retriesView(Object.entries(retry).map(([path, changed]) => ({ path, ...changed }))) } : {}),
});

/** Returns one changed retry as the instruction gives it; several as a list. */
const retriesView = <R>(retries: readonly R[]): R | readonly R[] | undefined => (retries.length > 1 ? retries : retries[0]);

const clientPart = (
  { orderId, reference, submittedAt, restartedFrom }: OrderRecord,
  { processState, outcome, suspended, completeBy, updatedAt, fault, workflow, restartedAs }: StateHead,
) => ({
  orderId,
  reference: reference ?? null,
  workflow: { name: workflow.name, version: workflow.version },
  processState,
  outcome,
  suspended,
  completeBy: timeOrNull(completeBy),
  submittedAt: timeText(submittedAt),
  updatedAt: timeText(updatedAt),
  restartedAs: restartedAs ?? null,
  restartedFrom: restartedFrom ?? null,
  fault: fault && { type: fault.type },
});

const operatorPart = (order: OrderRecord, state: StateHead) => ({
  ...clientPart(order, state),
  ...parentOf(order),
  failureCount: state.failureCount,
  undoing: state.undoing === true,
  ...causeOf(state),
  remainingSeconds: remainingSecondsOf(state),
  fault: state.fault && faultView(state.fault),
});

function parentOf({ caller, handles }: OrderRecord): { readonly parent?: string } {
  const parent = caller?.orderId ?? handles?.orderId;
  return parent === undefined ? {} : { parent };
}

/** Returns the exception and the task of an order in Error; otherwise those of a report, or of an undo that keeps failing. */
function causeOf({ orderId, open = [] }: StateHead): { readonly exceptionId?: string; readonly taskId?: string } {
  const error =
    open.findLast(({ cause }) => cause.startsWith('error/')) ?? open.find((each) => isReport(each) && !each.hasNoTask) ?? open[0];
  if (!error) return {};
  const taskId = taskIdOf(orderId, error.seq);
  return error.isQuestion ? { taskId } : { exceptionId: exceptionIdOf(orderId, error.seq), taskId };
}

const internalPart = ({ client, rev, epoch, lockedBy, heldBy, heldUntil }: StateHead) => {
  const shown = isReleased({ heldBy })
    ? { heldBy: null, lockedUntil: null }
    : { heldBy: lockHolderOf({ heldBy }) ?? heldBy, lockedUntil: timeOrNull(heldUntil) };
  return { client, rev, epoch, lockedBy, ...shown };
};

const faultView = ({ type, class: faultClass, message, permanent, source, data }: FaultSummary) => ({
  type,
  class: faultClass,
  message,
  permanent,
  source: source ?? null,
  data: data ?? null,
});

const followedView = ({ completeBy, startedAt, closedAt, requestedAt, answeredAt, waitsFor, output, ...progress }: Followed) => ({
  ...progress,
  waitsFor: waitView(waitsFor),
  completeBy: timeOrNull(completeBy),
  startedAt: timeOrNull(startedAt),
  closedAt: timeOrNull(closedAt),
  // Shown only if they differ from the times above: after a resubmission, or for an answer that came to a blocked or suspended order.
  ...(requestedAt === null || requestedAt === startedAt ? {} : { requestedAt: timeText(requestedAt) }),
  ...(answeredAt === null || answeredAt === closedAt ? {} : { answeredAt: timeText(answeredAt) }),
  output,
});

type WaitLike = Exclude<OrderWait, Outage> | Exclude<Followed['waitsFor'], Outage | null>;

const waitView = (wait: WaitLike | Outage | null) => (wait?.kind === 'outage' ? { ...wait, since: timeText(wait.since) } : wait);

const orderWaitView = (wait: OrderWait | undefined) =>
  wait ? { ...waitView(wait), path: wait.path, until: timeOrNull(wait.until) } : null;

const secretsOf = new WeakMap<Program, readonly string[]>();

/** Masks the secret fields. Without the workflow's definition, all fields count as secret. */
export function withoutSecrets(body: Json, program: Program | undefined): Json {
  if (!program) return mask;
  const pointers = secretsOf.get(program) ?? secretPointers(program.definition.order);
  secretsOf.set(program, pointers);
  return masked(body, pointers);
}

export const timeOrNull = (at: number | null): string | null => (at === null ? null : timeText(at));
