import { resultVariable } from '#core/data/child-order';
import { engineFaults, shortType } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { type Reply, timeText } from '#ports/messages';
import type { CallerRef, OrderRecord } from '#ports/records';

/**
 * What an order that was called answers at its end: to the call, or, where it was completed before and has been undone
 * since, to the undo of the call. Undefined for an order that nobody called, or that is not at its end.
 */
export function replyToCaller(order: OrderRecord, state: State, now: number): JsonObject | undefined {
  const { caller } = order;
  if (caller && state.phase === 'closed' && state.compensatedByCaller)
    return replyTo(undoOf(caller), { status: 'succeeded', output: {} }, now);
  return replyToCall(order, state, now);
}

/** The answer to the call itself. A called order that was undone for its caller was not completed. */
export function replyToCall({ caller, orderId }: OrderRecord, state: State, now: number): JsonObject | undefined {
  return caller && state.phase === 'closed' ? replyTo(caller, resultOf(orderId, state), now) : undefined;
}

function resultOf(orderId: string, { outcome, failure, vars }: State): Reply['result'] {
  if (outcome === 'completed') return { status: 'succeeded', output: vars?.[resultVariable] ?? null };
  const { type, message, data } = failure ?? {
    type: engineFaults.childNotCompleted,
    message: `The order ${orderId} that was called ended as ${outcome}.`,
    data: { orderId, outcome: outcome ?? null } as Json,
  };
  return { status: 'failed', fault: { type: shortType(type), message, permanent: true, ...(data === undefined ? {} : { data }) } };
}

/** A caller knows the effect by its generation: which of its askings is answered does not matter. */
export const replyTo = ({ orderId, path, requestId, attempt, epoch }: CallerRef, result: Reply['result'], now: number): JsonObject => ({
  v: 1,
  type: 'reply',
  requestId,
  orderId,
  path,
  attempt,
  epoch,
  sentAt: timeText(now),
  result: result as unknown as Json,
});

const undoOf = ({ orderId, path, requestId, ...caller }: CallerRef): CallerRef => ({
  ...caller,
  orderId,
  path: `${path}/undo`,
  requestId: `${orderId}/${path}/undo/${requestId.slice(requestId.lastIndexOf('/') + 1)}`,
});
