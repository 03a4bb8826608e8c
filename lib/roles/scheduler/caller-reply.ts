import { outputOf } from '#core/data/child-order';
import { engineFaults, shortType } from '#core/data/fault';
import { requestIdFrom, undoPathOf } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { type Reply, timeText } from '#ports/messages';
import type { CallerRef, OrderRecord } from '#ports/records';

/**
 * Returns the reply of a called order to its caller; undefined if it has no caller or has not ended. After its
 * caller has compensated the call, the order replies to the undo of the call.
 */
export function replyToCaller(order: OrderRecord, state: State, now: number): JsonObject | undefined {
  const { caller } = order;
  if (caller && state.phase === 'closed' && state.compensatedByCaller)
    return replyTo(undoOf(caller), { status: 'succeeded', output: {} }, now);
  return replyToCall(order, state, now);
}

/** Returns the reply to the call itself. An order that was undone for its caller counts as not completed. */
export function replyToCall({ caller, orderId }: OrderRecord, state: State, now: number): JsonObject | undefined {
  return caller && state.phase === 'closed' ? replyTo(caller, resultOf(orderId, state), now) : undefined;
}

function resultOf(orderId: string, state: State): Reply['result'] {
  const { outcome, failure } = state;
  if (outcome === 'completed') return { status: 'succeeded', output: outputOf(state) ?? null };
  const { type, message, data } = failure ?? {
    type: engineFaults.childNotCompleted,
    message: `The called order ${orderId} ended as ${outcome}.`,
    data: { orderId, outcome: outcome ?? null } as Json,
  };
  return { status: 'failed', fault: { type: shortType(type), message, permanent: true, ...(data === undefined ? {} : { data }) } };
}

/** Builds a reply to a caller. The caller identifies the effect by its generation, so a reply to any attempt counts. */
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
  path: undoPathOf(path),
  requestId: requestIdFrom(orderId, undoPathOf(path), requestId.slice(requestId.lastIndexOf('/') + 1)),
});
