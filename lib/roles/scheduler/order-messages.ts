import { fits, type JsonObject } from '#core/data/json';
import type { State } from '#core/data/state';
import { queueNames, type StatusKind, timeText } from '#ports/messages';
import {
  announcedAs,
  type DetailType,
  type FaultSummary,
  type OrderRecord,
  type OutboxEntry,
  type Outcome,
  type StateRecord,
} from '#ports/records';
import { replyToCaller } from './caller-reply.ts';

/** What one write of an order says to the outside, as entries of its outbox. */
export function announcementOf({ orderId }: StateRecord, detailType: DetailType, id: string, detail: JsonObject, now: number): OutboxEntry {
  return { id, kind: 'announcement', detailType, detail: { id, orderId, at: timeText(now), ...detail } };
}

/** The message to the submitter's own queue; `statusSeq` of the record is its number. */
export function statusOf(record: StateRecord, { reference }: OrderRecord, channel: string, status: StatusKind, now: number): OutboxEntry {
  const { statusSeq: seq, outcome, orderId } = record;
  const about = { orderId, ...(reference === undefined ? {} : { reference }), seq, status, ...(outcome ? { outcome } : {}) };
  return { id: `${orderId}/status/${seq}`, kind: 'status', channel, message: { v: 1, type: 'status', ...about, at: timeText(now) } };
}

/** What an order that was called has come to, for the order that called it. */
export function callerReplyOf({ orderId, epoch }: StateRecord, order: OrderRecord, state: State, now: number): readonly OutboxEntry[] {
  const message = replyToCaller(order, state, now);
  return message ? [{ id: `${orderId}/caller/${epoch}`, kind: 'status', channel: queueNames.callReplies, message }] : [];
}

/**
 * A called order may end twice: completed, then undone by its caller. Subscribers that drop repetitions must hear of both,
 * so the outcome is part of the id. A damaged record does not say whether the order had completed before.
 */
export function processedId(record: StateRecord, { caller }: OrderRecord, outcome: Outcome): string {
  const id = `${announcedAs(record)}/processed`;
  return caller && outcome !== 'completed' ? `${id}/${outcome}` : id;
}

interface Where {
  readonly source?: string | undefined;
  readonly before: string;
  readonly after: string;
  readonly failureCount: number;
}

/** The detail of an alert about a fault. */
export const alertDetail = (fault: FaultSummary, { source = fault.source, before, after, failureCount }: Where): JsonObject => ({
  class: fault.class,
  type: fault.type,
  ...(source ? { source } : {}),
  before,
  after,
  failureCount,
  message: fault.message,
  ...(fault.data !== undefined && fits(fault.data, alertDataBytesMax) ? { data: fault.data } : {}),
});

/** UTF-8 bytes: each copy of an alert lies in the state until it is told. `GET /orders/{id}` shows what is longer. */
const alertDataBytesMax = 4 * 1024;
