import type * as z from 'zod';
import { InstanceLockedError, UnreadableRecordError } from '../errors.ts';
import type { Instructed } from '../scheduler.ts';
import { etagOf, visibleOrder } from './orders.ts';
import { isRefusal, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { CancelBody, InstructionBody, InstructionHeaders } from './schemas.ts';

type InstructionCall = Call<unknown, z.output<typeof InstructionHeaders>, z.output<typeof InstructionBody>>;

export async function instructOrder(call: InstructionCall): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, headers, body } = call;
  if (headers['if-match'] === undefined && !body.dryRun) return refuse('precondition-required');

  const instructed = await carryOut(call);
  if (isRefusal(instructed)) return instructed;
  switch (instructed.outcome) {
    case 'not-found':
      return refuse('not-found');
    case 'stale':
      return refuse('stale', { headers: { etag: etagOf(instructed.rev) } });
    case 'infeasible':
      return infeasible(instructed.reasons);
    case 'planned':
      return json(200, { orderId: id, ...instructed.plan }, { orderId: id });
    case 'done': {
      api.telemetry.log('info', 'instruction given', { orderId: id, requestId, by: caller.subject, kind: body.kind, rev: instructed.rev });
      // The order may have gone on since: what is told belongs together.
      const head = await api.store.head(id);
      const { rev, processState } = head ?? { rev: instructed.rev, processState: 'Processing' };
      return json(202, { orderId: id, rev, processState }, { orderId: id, headers: { etag: etagOf(rev), location: `/orders/${id}` } });
    }
  }
}

type CancelCall = Call<unknown, unknown, z.output<typeof CancelBody>>;

/** A client's own order, or any for an operator: what runs is cancelled, what was done is undone. */
export async function cancelOrder(call: CancelCall): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, body } = call;
  if (!(await visibleOrder(call))) return refuse('not-found');
  const cancelled = await withoutLease(call, () =>
    api.scheduler.instruct(id, { kind: 'cancel', by: caller.subject, reason: body.reason }, { id: requestId }),
  );
  if (isRefusal(cancelled)) return cancelled;
  if (cancelled.outcome === 'infeasible')
    return refuse('conflict', { errors: cancelled.reasons.map((detail) => ({ pointer: '', code: 'conflict', detail })) });
  if (cancelled.outcome !== 'done') return refuse('not-found');
  const head = await api.store.head(id);
  const { rev, processState } = head ?? { rev: cancelled.rev, processState: 'Processing' };
  return json(202, { orderId: id, rev, processState }, { orderId: id, headers: { etag: etagOf(rev), location: `/orders/${id}` } });
}

function carryOut(call: InstructionCall): Promise<Instructed | Refusal> {
  const { api, caller, requestId, id, headers, body } = call;
  const { dryRun = false, completeWithinSeconds, ...decided } = body;
  const ifMatch = headers['if-match'];
  const more = decided.kind === 'resubmit' && completeWithinSeconds !== undefined ? { completeWithinSeconds } : {};
  return withoutLease(call, () =>
    api.scheduler.instruct(
      id,
      { ...decided, ...more, by: caller.subject },
      { id: requestId, dryRun, ...(ifMatch === undefined ? {} : { ifMatch: Number(ifMatch.slice(1, -1)) }) },
    ),
  );
}

/** Somebody has the order to himself, or nobody can read it: that is an answer. */
async function withoutLease({ api }: Pick<Call, 'api'>, work: () => Promise<Instructed>): Promise<Instructed | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InstanceLockedError)
      return refuse('locked', { headers: { 'retry-after': String(Math.max(1, Math.ceil((error.heldUntil - api.clock.now()) / 1000))) } });
    if (error instanceof UnreadableRecordError) return infeasible([`The record of the order cannot be read: ${error.reason}.`]);
    throw error;
  }
}

const infeasible = (reasons: readonly string[]): Refusal =>
  refuse('infeasible', { errors: reasons.map((detail) => ({ pointer: '', code: 'infeasible', detail })) });
