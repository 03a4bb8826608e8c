import type * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import { rootPath } from '#core/definition/definition';
import { mask } from '#core/definition/secrets';
import { type Check, refusedCheck } from '#core/instructions/check';
import { type InstructionRefusal, refusal } from '#core/instructions/kind';
import type { UndoPlan } from '#core/views/undo-plan';
import { InstanceLockedError, UnreadableRecordError } from '#ports/errors';
import type { StateHead } from '#ports/records';
import { callKey } from '#roles/operator/idempotency';
import type { Instruct, Instructed } from '#roles/operator/instruct';
import type { Given, Instruction } from '#roles/operator/instruction';
import { audited } from './audited.ts';
import { withLastDecision } from './last-decision.ts';
import { lockedFor } from './locks.ts';
import { etagOf } from './orders.ts';
import { plannedUndo } from './plan.ts';
import { isRefusal, type Refusal, refuse } from './problem.ts';
import { type RecoveryPlan, recoveryPlan } from './recovery-plan.ts';
import { type Answer, type Call, json } from './route.ts';
import type { InstructionBody, InstructionHeaders } from './schemas/instructions.ts';
import { isOperator } from './views.ts';

type InstructionCall = Call<unknown, z.output<typeof InstructionHeaders>, z.output<typeof InstructionBody>>;

/** Additions of an API call to the instruction that it gives. */
export interface Around extends Pick<Parameters<Instruct>[2], 'solution' | 'beside'> {
  /** The content for which the idempotency key of the call stands. Default: the instruction. */
  readonly keyed?: Json;
}

export async function instructOrder(call: InstructionCall, around: Around = {}): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, headers, body } = call;
  if (headers['if-match'] === undefined && !body.dryRun) return refuse('precondition-required');

  const instructed = await carryOut(call, around);
  if (isRefusal(instructed)) return instructed;
  switch (instructed.outcome) {
    case 'not-found':
      return refuse('not-found');
    case 'stale':
      return withLastDecision(refuse('stale', { headers: { etag: etagOf(instructed.rev) } }), id, api.store);
    case 'infeasible':
      return infeasible(instructed.refusals);
    case 'invalid':
      return refuse('invalid', { errors: instructed.problems });
    case 'key-reused':
      return refuse('idempotency-key-reused');
    case 'planned':
      return json(
        200,
        {
          orderId: id,
          ...instructed.plan,
          ...instructed.check,
          ...(await undoOf(call, instructed.check)),
          ...(await recoveryOf(call, instructed.check)),
        },
        { orderId: id },
      );
    case 'replayed':
    case 'done':
      api.telemetry.log('info', 'instruction given', { orderId: id, requestId, by: caller.subject, kind: body.kind, rev: instructed.rev });
      return answerTo(instructed, call);
  }
}

/** Answers 202. The answer to a repeated call has the header `Idempotent-Replayed`. */
export async function answerTo(
  { outcome, rev }: Extract<Instructed, { outcome: 'done' | 'replayed' }>,
  call: Pick<Call, 'api' | 'id'>,
): Promise<Answer> {
  const answer = await acceptedAnswer(call, rev);
  return outcome === 'done' ? answer : { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
}

/** Answers 202 with one consistent head of the order, which may be newer than the write of this instruction. */
async function acceptedAnswer({ api, id }: Pick<Call, 'api' | 'id'>, writtenAt: number): Promise<Answer> {
  const head = await api.store.head(id);
  const { rev, processState, restartedAs } = head ?? { rev: writtenAt, processState: 'Processing', restartedAs: undefined };
  return json(
    202,
    { orderId: id, rev, processState, ...(restartedAs === undefined ? {} : { restartedAs }) },
    { orderId: id, headers: { etag: etagOf(rev), location: `/orders/${id}` } },
  );
}

function carryOut(call: InstructionCall, { keyed, ...around }: Around): Promise<Instructed | Refusal> {
  const { caller, requestId, headers, body } = call;
  const { dryRun = false } = body;
  const ifMatch = headers['if-match'];
  const key = headers['idempotency-key'];
  return carryOutAudited(call, instructionOf(call), {
    id: requestId,
    dryRun,
    ...around,
    ...(ifMatch === undefined ? {} : { ifMatch: Number(ifMatch.slice(1, -1)) }),
    ...(key === undefined || dryRun ? {} : { key: callKey(caller.subject, key, keyed ?? (body as Json)) }),
  });
}

/**
 * Carries out an instruction, a signal or a report. If an operator gives it, the audit records it. If a client gives it, only the history
 * of its order does.
 */
export function carryOutAudited(
  call: Pick<Call, 'api' | 'caller' | 'requestId' | 'id'>,
  instruction: Given,
  how: Parameters<Instruct>[2],
): Promise<Instructed | Refusal> {
  const { api, caller, id } = call;
  if (!isOperator(caller)) return refusedIfLocked(call, how.dryRun, () => api.scheduler.instruct(id, instruction, how));
  const { kind } = instruction;
  const reason = 'reason' in instruction ? instruction.reason : instruction.kind === 'report' ? instruction.message : null;
  return audited(
    call,
    { kind: 'instruction', target: id, action: kind, reason },
    (entry) => {
      const beside = (before: StateHead, after: StateHead) => [
        ...entry(headView(before), { ...headView(after), ...argumentsOf(instruction) }),
        ...(how.beside?.(before, after) ?? []),
      ];
      return refusedIfLocked(call, how.dryRun, () => api.scheduler.instruct(id, instruction, { ...how, caller: caller.subject, beside }));
    },
    (instructed) => !isRefusal(instructed) && instructed.outcome === 'done',
  );
}

/** Returns the fields of an order's head that the audit has from before and from after an instruction. */
const headView = ({ rev, processState, outcome, suspended, fault }: StateHead) => ({
  rev,
  processState,
  outcome,
  suspended,
  fault: fault?.type ?? null,
});

const maskedFields: ReadonlySet<string> = new Set(['answer', 'input', 'order', 'output', 'variables']);

/** Returns the content of an instruction for the audit. Values that people give may hold secrets, so each is masked as a whole. */
function argumentsOf(instruction: Given): JsonObject {
  if (instruction.kind === 'signal') return { name: instruction.name, payload: mask };
  if (instruction.kind === 'report') return { type: instruction.type, path: instruction.path ?? null };
  const { by: _, reason: __, kind: ___, ...rest } = instruction;
  return Object.fromEntries(Object.entries(rest).map(([field, value]) => [field, maskedFields.has(field) ? mask : (value as Json)]));
}

function instructionOf({ caller, body }: InstructionCall): Instruction {
  const { dryRun: _, ...instruction } = body;
  return { by: caller.subject, ...instruction } as Instruction;
}

/** Adds the undo plan to a dry run of `compensate`. */
async function undoOf(call: InstructionCall, { feasible }: Check): Promise<{ readonly undo?: UndoPlan }> {
  const { body } = call;
  const planned = feasible && body.kind === 'compensate' ? await plannedUndo(call, body.path ?? rootPath) : undefined;
  return planned === undefined || isRefusal(planned) ? {} : { undo: planned };
}

/** Adds the affected scope and its consumers to a dry run of `recover`. */
async function recoveryOf(call: InstructionCall, { feasible }: Check): Promise<{ readonly recovery?: RecoveryPlan }> {
  const { body } = call;
  const planned = feasible && body.kind === 'recover' ? await recoveryPlan(call, body.path) : undefined;
  return planned === undefined ? {} : { recovery: planned };
}

/** Turns a held lease and an unreadable record into refusals. */
async function refusedIfLocked(
  call: Pick<Call, 'api' | 'caller'>,
  dryRun: boolean | undefined,
  work: () => Promise<Instructed>,
): Promise<Instructed | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InstanceLockedError) return lockedFor(call, error);
    // During a rollout, a process of the newer version can carry the instruction out: the API answers 503.
    if (!(error instanceof UnreadableRecordError) || (error.newerUntil ?? 0) > call.api.clock.now()) throw error;
    const unreadable = [refusal('unreadable', `The record of the order cannot be read: ${error.reason}.`)];
    return dryRun ? { outcome: 'planned', check: refusedCheck(undefined, unreadable) } : { outcome: 'infeasible', refusals: unreadable };
  }
}

const infeasible = (refusals: readonly InstructionRefusal[]): Refusal =>
  refuse('infeasible', { errors: refusals.map((each) => ({ pointer: '', ...each })) });
