import { isQuestion } from '#core/data/fault';
import { undoPathOf } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { limits } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import { mayTakeSignal, signalsAhead, takesSignalNow } from '#core/views/reachable';
import { timeText } from '#ports/messages';
import type { StateHead, StateRecord } from '#ports/records';
import { validatorOf } from '#ports/util/validation';
import type { PlannedWrite } from '#roles/scheduler/types';
import { bodyProblems, type SubmissionProblem } from '#roles/submission/submission';
import type { Decision, Instruction, Signal } from './instruction.ts';

/** The effects of an instruction, for a dry run. */
export interface InstructionPlan {
  readonly processState: string;
  readonly requests: readonly {
    readonly path: string;
    readonly agent: string;
    readonly operation: string;
    readonly attempt: number;
    readonly idempotencyKey: string;
    readonly completeBy: string;
  }[];
  readonly fault?: string;
  readonly suspended: boolean;
  /** When all active work would be due; null while the order is suspended. */
  readonly completeBy: string | null;
  /** The time that a suspended order has left; null for other orders. */
  readonly remainingSeconds: number | null;
}

/** The parts of an order that make a decision feasible or not. */
interface Decided {
  readonly program: Program;
  readonly record: Pick<StateRecord, 'processState' | 'outcome' | 'suspended'>;
  readonly instance: { readonly state: State };
}

type Resubmission = Extract<Instruction, { kind: 'resubmit' }>;

/** Returns every reason why a decision cannot be carried out now; an empty list means that it is feasible. */
export function infeasibleReasons(order: Decided, decision: Decision, now: number): readonly string[] {
  const { program, record } = order;
  const { state } = order.instance;
  if (record.processState === 'Processed') return [`The order is finished (${record.outcome}). Submit a new one instead.`];
  if (decision.kind === 'terminate') return [];
  if (decision.kind === 'suspend') return suspensionReasons(record);
  if (decision.kind === 'resume') return record.suspended ? [] : ['The order is not suspended: there is nothing to resume.'];
  if (decision.kind === 'mark-compensated') return markingReasons(order, decision.path);
  if (record.suspended && record.processState === 'Error' && decision.kind === 'resubmit')
    return ['The order was suspended before it went into Error. Resume it first.'];
  if (state.ending) return undoingReasons(state.ending.outcome, record.processState, decision);
  if (decision.kind === 'cancel') return [];
  if (decision.kind === 'signal') return signalReasons(program, state, decision.name);
  if (record.processState !== 'Error')
    return [
      decision.kind === 'compensate'
        ? `Only an order in Error can be compensated; this one is ${record.processState}. Cancel it instead.`
        : `Only an order in Error can be resubmitted; this one is ${record.processState}.`,
    ];
  return decision.kind === 'compensate' ? [] : resubmissionReasons(state, decision, now);
}

const suspensionReasons = ({ suspended, processState }: Decided['record']): readonly string[] => [
  ...(suspended ? ['The order is already suspended.'] : []),
  ...(processState === 'Error' ? ['The order is in Error, where no new work begins: there is nothing to suspend.'] : []),
];

/**
 * Returns the reasons against a decision about an order that is being undone. The caller has already judged terminate, suspend,
 * resume and mark-compensated. Among the others only a resubmission is feasible, if the order is in Error: it continues the undo.
 */
function undoingReasons(outcome: string, processState: string, decision: Decision): readonly string[] {
  if (processState !== 'Error') return [`The order is already being undone, and will end as ${outcome}.`];
  if (decision.kind !== 'resubmit') return [`The order is in Error while being undone, to end as ${outcome}. Resubmit it to continue.`];
  return decision.answer === undefined ? [] : ['The order has no open question. Leave out "answer".'];
}

/** Returns where an answer or a signal's payload does not match the definition. */
export function problemsWith({ program, instance }: Omit<Decided, 'record'>, decision: Decision): readonly SubmissionProblem[] {
  if (decision.kind === 'resubmit' && decision.answer !== undefined && instance.state.blocked) {
    const node = nodeAt(program, instance.state.blocked.path);
    return node.activity === 'askOperator' ? schemaProblems(node.answer, decision.answer, '/answer') : [];
  }
  return decision.kind === 'signal' ? payloadProblems([...program.nodes.values()], decision) : [];
}

type Nodes = readonly { readonly activity: string; readonly signal?: unknown; readonly payload?: unknown }[];

/** Returns the problems of a signal's payload. It must match one of the activities that may wait for the signal. */
function payloadProblems(nodes: Nodes, { name, payload }: Signal): readonly SubmissionProblem[] {
  const waiting = nodes.filter(({ activity, signal }) => activity === 'waitFor' && signal === name);
  const problems = waiting.map((node) => schemaProblems(node.payload as JsonObject | undefined, payload, ''));
  return problems.some((each) => each.length === 0) ? [] : (problems[0] ?? []);
}

function schemaProblems(schema: JsonObject | undefined, value: Json, prefix: string): readonly SubmissionProblem[] {
  return schema === undefined ? [] : bodyProblems(validatorOf(schema), value, prefix);
}

function signalReasons(program: Program, state: State, name: string): readonly string[] {
  if (!mayTakeSignal(program, state, name)) {
    const names = signalsAhead(program, state);
    const known = names.length === 0 ? 'It waits for no other signals.' : `It may still wait for: ${names.join(', ')}.`;
    return [`The order will not wait for the signal "${name}". ${known}`];
  }
  if ((state.signals ?? []).length < limits.signalsMax || takesSignalNow(program, state, name)) return [];
  return [
    `The order already keeps ${limits.signalsMax} signals, which is the limit. Send the signal again after it has taken some of them.`,
  ];
}

function resubmissionReasons({ blocked, endBy }: State, { answer, completeWithinSeconds }: Resubmission, now: number): readonly string[] {
  const asked = blocked && isQuestion(blocked.fault);
  return [
    ...(asked && answer === undefined ? [`The order waits for an answer to: ${blocked.fault.message} Send it as "answer".`] : []),
    ...(!asked && answer !== undefined ? ['The order has no open question: it is in Error because of a fault. Leave out "answer".'] : []),
    ...(endBy !== undefined && endBy <= now && completeWithinSeconds === undefined
      ? [`The time limit of the order passed at ${timeText(endBy)}. Extend it with "completeWithinSeconds".`]
      : []),
  ];
}

/** Returns the step whose undo is meant: `path` names the step or its undo. Without a path, the undo must be the only failing one. */
export function stepToMark(program: Program, state: State, path: string | undefined): string | undefined {
  const failing = failingUndos(program, state);
  if (path === undefined) return failing.length === 1 ? failing[0] : undefined;
  return failing.find((each) => each === path || undoPathOf(each) === path);
}

function markingReasons({ program, record, instance }: Decided, path: string | undefined): readonly string[] {
  const { processState, suspended } = record;
  const failing = failingUndos(program, instance.state);
  const known = failing.length === 0 ? 'No undo of this order has failed.' : `Failed undos: ${failing.join(', ')}.`;
  const blocked = [
    ...(processState === 'Error' ? ['The order is in Error. Resubmit or compensate it; then its undos continue.'] : []),
    ...(suspended ? ['The order is suspended. Resume it; then its undos continue.'] : []),
  ];
  if (stepToMark(program, instance.state, path) !== undefined) return blocked;
  if (path !== undefined) return [...blocked, `The undo of ${path} is not running, or has not failed yet. ${known}`];
  return [...blocked, failing.length > 1 ? `Several undos have failed: choose one with "path". ${known}` : known];
}

export const instructionPlan = ({ record, requests }: PlannedWrite): InstructionPlan => ({
  processState: record.processState,
  requests: requests.map(({ path, agent, operation, attempt, idempotencyKey, completeBy }) => ({
    path,
    agent,
    operation,
    attempt,
    idempotencyKey,
    completeBy: timeText(completeBy),
  })),
  ...(record.fault ? { fault: record.fault.type } : {}),
  suspended: record.suspended,
  completeBy: record.completeBy === null ? null : timeText(record.completeBy),
  remainingSeconds: remainingSecondsOf(record),
});

/** Returns the time that a suspended order has left, in seconds; null for other orders. Old records may lack the field. */
export const remainingSecondsOf = ({ remainingMs }: Pick<StateHead, 'remainingMs'>): number | null =>
  typeof remainingMs === 'number' ? Math.ceil(remainingMs / 1000) : null;
