import type * as z from 'zod';
import { signalName } from '#core/activities/wait-for';
import type { Json } from '#core/data/json';
import { callKey } from '#roles/operator/idempotency';
import type { Decision } from '#roles/operator/instruction';
import { answerTo, carryOutAudited } from './instructions.ts';
import { withLastDecision } from './last-decision.ts';
import { visibleOrder } from './orders.ts';
import { badParameter, conflict, isRefusal, type Refusal, refuse } from './problem.ts';
import type { Answer, Call } from './route.ts';
import type { CancelBody, KeyHeaders } from './schemas/instructions.ts';
import { isOperator } from './views.ts';

type CallFromOutside<Body = unknown> = Call<unknown, z.output<typeof KeyHeaders>, Body>;

/** Cancels a client's own order, or any order for an operator: cancels running steps and undoes completed ones. */
export async function cancelOrder(call: CallFromOutside<z.output<typeof CancelBody>>): Promise<Answer | Refusal> {
  const { caller, body } = call;
  if (!(await visibleOrder(call))) return refuse('not-found');
  return carryOut(call, { kind: 'cancel', by: caller.subject, reason: body.reason }, { kind: 'cancel', reason: body.reason });
}

/** Sends a signal to an order. The order keeps it until an activity waits for it. */
export async function signalOrder(call: CallFromOutside): Promise<Answer | Refusal> {
  if (!(await visibleOrder(call))) return refuse('not-found');
  const { name } = call;
  if (!signalName.test(name))
    return badParameter('/name', 'bad-name', 'name: expected a letter, then letters, digits, "-" and "_", at most 64 characters.');
  const signal = { kind: 'signal', name, payload: call.body as Json } as const;
  return carryOut(call, signal, signal);
}

/** Refuses a cancellation or a signal that the order does not allow any more. An operator also reads who decided before. */
async function tooLate({ api, caller, id }: CallFromOutside, refusals: readonly { readonly detail: string }[]): Promise<Refusal> {
  const refused = conflict(refusals.map(({ detail }) => detail));
  return isOperator(caller) ? withLastDecision(refused, id, api.store) : refused;
}

/** Carries out a cancellation or a signal. `content`: that of the call; another content under the same idempotency key is refused. */
async function carryOut(call: CallFromOutside, instruction: Decision, content: Json): Promise<Answer | Refusal> {
  const { caller, requestId, headers } = call;
  const given = headers['idempotency-key'];
  const key = given === undefined ? {} : { key: callKey(caller.client ?? caller.subject, given, content) };
  const carriedOut = await carryOutAudited(call, instruction, { id: requestId, ...key });
  if (isRefusal(carriedOut))
    return carriedOut.problem === 'infeasible' ? conflict(carriedOut.errors?.map(({ detail }) => detail)) : carriedOut;
  switch (carriedOut.outcome) {
    case 'infeasible':
      return tooLate(call, carriedOut.refusals);
    case 'invalid':
      return refuse('invalid', { errors: carriedOut.problems });
    case 'key-reused':
      return refuse('idempotency-key-reused');
    case 'done':
    case 'replayed':
      return answerTo(carriedOut, call);
    default:
      return refuse('not-found');
  }
}
