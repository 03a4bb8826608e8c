import type { Json } from '#core/data/json';
import type { Program } from '#core/definition/program';
import { mask, masked, secretPointers } from '#core/definition/secrets';
import { timeText } from '#ports/messages';
import type { FaultSummary, OrderRecord, StateHead } from '#ports/records';
import { remainingSecondsOf } from '#roles/operator/feasibility';
import type { StepReport } from '#roles/scheduler/step-report';
import type { Caller } from './authentication.ts';
import { boundedSteps } from './bounded.ts';

/** Views of an order for each role. Only the fields named here are shown. */

/** Operators see every order with its internals; clients see their own orders without them. */
export const isOperator = (caller: Caller): boolean => caller.roles.has('operator');

export const maySee = (caller: Caller, { client }: { readonly client: string }): boolean =>
  isOperator(caller) || (caller.client !== undefined && caller.client === client);

export const listedOrder = (order: OrderRecord, state: StateHead, caller: Caller) => ({
  ...publicPart(order, state),
  ...(isOperator(caller) ? internalPart(state) : {}),
});

export const fullOrder = (
  order: OrderRecord,
  state: StateHead,
  {
    steps,
    program,
    explanation,
    output,
  }: {
    readonly steps: readonly StepReport[];
    readonly program: Program | undefined;
    readonly explanation: string | null;
    readonly output: Json | undefined;
  },
  caller: Caller,
) => ({
  ...publicPart(order, state),
  ...(output === undefined ? {} : { output }),
  ...boundedSteps(
    order.orderId,
    steps.map((step) => stepView(state.suspended && step.status !== 'Closed' ? { ...step, completeBy: null } : step, caller)),
  ),
  ...(isOperator(caller) ? { ...internalPart(state), order: withoutSecrets(order.body, program), explanation } : {}),
});

const publicPart = (
  { orderId, reference, workflow, submittedAt, caller }: OrderRecord,
  { processState, outcome, suspended, failureCount, completeBy, remainingMs, updatedAt, fault }: StateHead,
) => ({
  orderId,
  reference: reference ?? null,
  /** The order that called this one. */
  ...(caller ? { parent: caller.orderId } : {}),
  workflow: { name: workflow.name, version: workflow.version },
  processState,
  outcome,
  suspended,
  failureCount,
  completeBy: timeOrNull(completeBy),
  remainingSeconds: remainingSecondsOf({ remainingMs }),
  submittedAt: timeText(submittedAt),
  updatedAt: timeText(updatedAt),
  fault: fault && faultView(fault),
});

const internalPart = ({ client, rev, epoch, lockedBy, heldBy }: StateHead) => ({ client, rev, epoch, lockedBy, heldBy });

const faultView = ({ type, class: faultClass, message, permanent, source, data }: FaultSummary) => ({
  type,
  class: faultClass,
  message,
  permanent,
  source: source ?? null,
  data: data ?? null,
});

const stepView = (
  { path, name, agent, operation, status, result, attempts, completeBy, startedAt, closedAt, output }: StepReport,
  caller: Caller,
) => ({
  path,
  name,
  agent,
  operation,
  status,
  result,
  attempts,
  completeBy: timeOrNull(completeBy),
  startedAt: timeOrNull(startedAt),
  closedAt: timeOrNull(closedAt),
  ...(isOperator(caller) ? { output } : {}),
});

const secretsOf = new WeakMap<Program, readonly string[]>();

/** Masks the secret fields. Without the workflow's definition, all fields count as secret. */
function withoutSecrets(body: Json, program: Program | undefined): Json {
  if (!program) return mask;
  const pointers = secretsOf.get(program) ?? secretPointers(program.definition.order);
  secretsOf.set(program, pointers);
  return masked(body, pointers);
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : timeText(at));
