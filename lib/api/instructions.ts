import type * as z from 'zod';
import { InstanceLockedError, UnreadableRecordError } from '../errors.ts';
import type { Instructed } from '../scheduler.ts';
import { etagOf } from './orders.ts';
import { isRefusal, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { InstructionBody, InstructionHeaders } from './schemas.ts';

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

async function carryOut({ api, caller, requestId, id, headers, body }: InstructionCall): Promise<Instructed | Refusal> {
  const { dryRun = false, ...decided } = body;
  const ifMatch = headers['if-match'];
  try {
    return await api.scheduler.instruct(
      id,
      { ...decided, by: caller.subject },
      { id: requestId, dryRun, ...(ifMatch === undefined ? {} : { ifMatch: Number(ifMatch.slice(1, -1)) }) },
    );
  } catch (error) {
    if (error instanceof InstanceLockedError)
      return refuse('locked', { headers: { 'retry-after': String(Math.max(1, Math.ceil((error.heldUntil - api.clock.now()) / 1000))) } });
    if (error instanceof UnreadableRecordError) return infeasible([`The record of the order cannot be read: ${error.reason}.`]);
    throw error;
  }
}

const infeasible = (reasons: readonly string[]): Refusal =>
  refuse('infeasible', { errors: reasons.map((detail) => ({ pointer: '', code: 'infeasible', detail })) });
