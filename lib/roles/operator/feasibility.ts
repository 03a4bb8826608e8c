import { isQuestion } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { limits } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import { mayTakeSignal, signalsAhead, takesSignalNow } from '#core/views/reachable';
import { timeText } from '#ports/messages';
import type { StateHead, StateRecord } from '#ports/records';
import { validatorOf } from '#ports/util/validation';
import type { Loaded, PlannedWrite } from '#roles/scheduler/types';
import { bodyProblems, type SubmissionProblem } from '#roles/submission/submission';
import type { Decision, Instruction, Signal } from './instruction.ts';

/** What an instruction would do, for a look before it is given. */
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
  /** By when what is at work would have to be done; null while it is suspended. */
  readonly completeBy: string | null;
  /** Of a suspended order: what is left of that time. */
  readonly remainingSeconds: number | null;
}

/** The part of an order that decides whether a decision is feasible. */
interface Decided {
  readonly program: Program;
  readonly record: Pick<StateRecord, 'processState' | 'outcome' | 'suspended'>;
  readonly instance: { readonly state: State };
}

type Resubmission = Extract<Instruction, { kind: 'resubmit' }>;

/** Every reason why a decision can't be carried out now; none means that it is feasible. */
export function infeasibleReasons({ program, record, instance }: Decided, decision: Decision, now: number): readonly string[] {
  const { state } = instance;
  if (record.processState === 'Processed') return [`The order is finished (${record.outcome}). Submit a new one instead.`];
  if (decision.kind === 'terminate') return [];
  if (decision.kind === 'suspend') return suspensionReasons(record);
  if (decision.kind === 'resume') return record.suspended ? [] : ['The order is not suspended: there is nothing to resume.'];
  if (decision.kind === 'mark-compensated') return markingReasons(state, record, decision.path);
  if (record.suspended && record.processState === 'Error' && decision.kind === 'resubmit')
    return ['The order was suspended before it went into Error: resume it first.'];
  if (state.ending) return undoingReasons(state.ending.outcome, record.processState, decision);
  if (decision.kind === 'cancel') return [];
  if (decision.kind === 'signal') return signalReasons(program, state, decision.name);
  if (record.processState !== 'Error')
    return [
      decision.kind === 'compensate'
        ? `The order is ${record.processState}: only an order in Error is compensated by instruction; cancel it instead.`
        : `The order is ${record.processState}: only an order in Error has a failed step to resubmit.`,
    ];
  return decision.kind === 'compensate' ? [] : resubmissionReasons(state, decision, now);
}

const suspensionReasons = ({ suspended, processState }: Decided['record']): readonly string[] => [
  ...(suspended ? ['The order is suspended already.'] : []),
  ...(processState === 'Error' ? ['The order is in Error: it waits for a person as it is, and nothing new is begun.'] : []),
];

/** Where it could not be worked on for a while, it goes on undoing; else there is nothing left to decide. */
function undoingReasons(outcome: string, processState: string, decision: Decision): readonly string[] {
  if (processState !== 'Error') return [`The order is being undone: it ends as ${outcome}.`];
  if (decision.kind !== 'resubmit') return [`The order was being undone, to end as ${outcome}: resubmit it, and that goes on.`];
  return decision.answer === undefined ? [] : ['Nobody has asked anything: leave answer out.'];
}

/** All that the definition says against what a decision brings along. */
export function problemsWith({ program, instance }: Omit<Decided, 'record'>, decision: Decision): readonly SubmissionProblem[] {
  if (decision.kind === 'resubmit' && decision.answer !== undefined && instance.state.blocked) {
    const node = nodeAt(program, instance.state.blocked.path);
    return node.activity === 'askOperator' ? schemaProblems(node.answer, decision.answer, '/answer') : [];
  }
  return decision.kind === 'signal' ? payloadProblems([...program.nodes.values()], decision) : [];
}

type Nodes = readonly { readonly activity: string; readonly signal?: unknown; readonly payload?: unknown }[];

/** Several may wait for it, each with a schema of its own: it must please one of them. */
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
    const known = names.length === 0 ? 'Nothing more waits for any signal.' : `What may still wait, waits for: ${names.join(', ')}.`;
    return [`Nothing will ever wait for the signal "${name}" in this order any more. ${known}`];
  }
  if ((state.signals ?? []).length < limits.signalsMax || takesSignalNow(program, state, name)) return [];
  return [`The order keeps ${limits.signalsMax} signals already, the most that may wait to be taken. Send it when some of them have been.`];
}

function resubmissionReasons({ blocked, endBy }: State, { answer, completeWithinSeconds }: Resubmission, now: number): readonly string[] {
  const asked = blocked && isQuestion(blocked.fault);
  return [
    ...(asked && answer === undefined ? [`The order waits for an answer to: ${blocked.fault.message} Give it with answer.`] : []),
    ...(!asked && answer !== undefined ? ['Nobody has asked anything: the order is in Error for a fault. Leave answer out.'] : []),
    ...(endBy !== undefined && endBy <= now && completeWithinSeconds === undefined
      ? [`The time of the whole order was over at ${timeText(endBy)}. Give it more with completeWithinSeconds.`]
      : []),
  ];
}

/** The step that is meant: the one of that path, or of whose undo it is the path; without one, the only one there is. */
export function stepToMark(state: State, path: string | undefined): string | undefined {
  const failing = failingUndos(state);
  if (path === undefined) return failing.length === 1 ? failing[0] : undefined;
  return failing.find((each) => each === path || `${each}/undo` === path);
}

function markingReasons(state: State, { processState, suspended }: Decided['record'], path: string | undefined): readonly string[] {
  const failing = failingUndos(state);
  const known = failing.length === 0 ? 'No undo of this order has failed.' : `Undos that have failed: ${failing.join(', ')}.`;
  const blocked = [
    ...(processState === 'Error' ? ['The order is in Error: resubmit it, or have it compensated; then its undos go on.'] : []),
    ...(suspended ? ['The order is suspended: resume it; then its undos go on.'] : []),
  ];
  if (stepToMark(state, path) !== undefined) return blocked;
  if (path !== undefined) return [...blocked, `The undo of ${path} is not at work, or has not failed yet. ${known}`];
  return [...blocked, failing.length > 1 ? `There are several: say which with path. ${known}` : known];
}

export const instructionPlan = (_: Loaded, { record, requests }: PlannedWrite): InstructionPlan => ({
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

/** A record of before there were such times has none. */
export const remainingSecondsOf = ({ remainingMs }: Pick<StateHead, 'remainingMs'>): number | null =>
  typeof remainingMs === 'number' ? Math.ceil(remainingMs / 1000) : null;
