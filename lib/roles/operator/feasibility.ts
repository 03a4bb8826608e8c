import { definitionPath } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { limits } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { kindOf } from '#core/instructions/index';
import { firstOf, type InstructionRefusal, type Judged, refusal, type Schemas, whenFinished, whenUndone } from '#core/instructions/kind';
import { mayTakeSignal, signalsAhead, takesSignalNow } from '#core/views/reachable';
import type { Definitions } from '#ports/definitions';
import { timeText } from '#ports/messages';
import { type OrderRecord, type StateHead, type StateRecord, subjectOf } from '#ports/records';
import { validatorOf } from '#ports/util/validation';
import { isReport, openReportsMax } from '#roles/exceptions/causes';
import type { Instance } from '#roles/scheduler/instance';
import type { PlannedWrite } from '#roles/scheduler/types';
import { bodyProblems, type SubmissionProblem } from '#roles/submission/submission';
import { type Given, isInstruction, type Signal } from './instruction.ts';

/** The state of an order after the write that a check of an instruction has planned. */
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
  /** The time at which all active work would be due; null while the order is suspended. */
  readonly completeBy: string | null;
  /** The time that a suspended order has left; null for other orders. */
  readonly remainingSeconds: number | null;
}

/** The parts of a stored order that decide what is feasible now. */
export interface Decided {
  readonly program: Program;
  readonly order: Pick<OrderRecord, 'orderId' | 'body' | 'firstGeneration'>;
  readonly record: Pick<StateRecord, 'processState' | 'outcome' | 'suspended' | 'open' | 'restartedAs'>;
  readonly instance: Pick<Instance, 'state' | 'rules'>;
}

/** Returns the order as the kinds of instructions see it. */
export const judgedOf = (
  { program, order, record, instance }: Decided,
  { schemas, now, past = new Map(), definitions }: Known,
): Judged => ({
  program,
  subject: subjectOf(order as OrderRecord),
  state: instance.state,
  processState: record.processState,
  outcome: record.outcome,
  suspended: record.suspended,
  openCauses: record.open?.length ?? 0,
  openReports: record.open?.filter(isReport).length ?? 0,
  restartedAs: record.restartedAs,
  handlers: instance.rules?.handlers?.length,
  schemas,
  past,
  programs: (name, version) => definitions?.program(name, version),
  newest: (name) => definitions?.newest(name),
  now,
});

interface Known extends Pick<Judged, 'schemas' | 'now'> {
  readonly past?: Judged['past'];
  /** The app's workflows, for kinds that name one. */
  readonly definitions?: Pick<Definitions, 'program' | 'newest'>;
}

/** Returns the schemas of an app's operations, and what validates against them. */
export const schemasIn = ({ catalog }: Pick<Definitions, 'catalog'>): Schemas => ({
  of: (agent, operation) => catalog.schemasOf(agent, operation),
  problems: (schema, value, at) => bodyProblems(validatorOf(schema), value, at),
});

/** Returns the reasons of the first test that finds any against an instruction, a signal or a report; none if it is feasible now. */
export function refusalsOf(order: Judged, given: Given): readonly InstructionRefusal[] {
  if (isInstruction(given)) return kindOf(given).refusals(order, given);
  if (given.kind === 'report')
    return firstOf(
      () => whenFinished(order),
      () => reportReasons(order),
    );
  return firstOf(
    () => whenFinished(order),
    () => whenUndone(order),
    () => signalReasons(order.program, order.state, given.name),
  );
}

/** Returns where an answer, a signal's payload or the path of a report does not match the definition. */
export function problemsWith({ program, state }: Pick<Judged, 'program' | 'state'>, given: Given): readonly SubmissionProblem[] {
  if (given.kind === 'resubmit' && given.answer !== undefined && state.blocked) {
    const node = nodeAt(program, state.blocked.path);
    return node.activity === 'askOperator' ? schemaProblems(node.answer, given.answer, '/answer') : [];
  }
  if (given.kind === 'report') return pathProblems(program, given.path);
  return given.kind === 'signal' ? payloadProblems([...program.nodes.values()], given) : [];
}

function pathProblems(program: Program, path: string | undefined): readonly SubmissionProblem[] {
  if (path === undefined || program.nodes.has(definitionPath(path))) return [];
  const detail = `${path} is not an activity of this workflow. GET /orders/{id} lists those of the order.`;
  return [{ pointer: '/path', code: 'no-such-step', detail }];
}

function reportReasons({ openReports }: Judged): readonly InstructionRefusal[] {
  if (openReports < openReportsMax) return [];
  const detail = `The order is stopped and has ${openReportsMax} open exceptions from outside, which is the limit. Decide about the order first.`;
  return [refusal('too-large', detail)];
}

type Nodes = readonly { readonly activity: string; readonly signal?: unknown; readonly payload?: unknown }[];

/** Returns the problems of a signal's payload. The payload must match one of the activities that may wait for the signal. */
function payloadProblems(nodes: Nodes, { name, payload }: Signal): readonly SubmissionProblem[] {
  const waiting = nodes.filter(({ activity, signal }) => activity === 'waitFor' && signal === name);
  const problems = waiting.map((node) => schemaProblems(node.payload as JsonObject | undefined, payload, ''));
  return problems.some((each) => each.length === 0) ? [] : (problems[0] ?? []);
}

function schemaProblems(schema: JsonObject | undefined, value: Json, prefix: string): readonly SubmissionProblem[] {
  return schema === undefined ? [] : bodyProblems(validatorOf(schema), value, prefix);
}

function signalReasons(program: Program, state: State, name: string): readonly InstructionRefusal[] {
  if (!mayTakeSignal(program, state, name)) {
    const names = signalsAhead(program, state);
    const known = names.length === 0 ? 'It waits for no other signals.' : `It may still wait for: ${names.join(', ')}.`;
    return [refusal('nothing-to-do', `The order will not wait for the signal "${name}". ${known}`)];
  }
  if ((state.signals ?? []).length < limits.signalsMax || takesSignalNow(program, state, name)) return [];
  const detail = `The order already keeps ${limits.signalsMax} signals, which is the limit. Send the signal again after it has taken some of them.`;
  return [refusal('too-large', detail)];
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
