import { fits, type Json, type JsonObject } from '#core/data/json';
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
import { alertEntryOf } from '#ports/util/alert';
import { replyToCaller } from './caller-reply.ts';

/** Builds an announcement about an order, as an entry of its outbox. */
export function announcementOf({ orderId }: StateRecord, detailType: DetailType, id: string, detail: JsonObject, now: number): OutboxEntry {
  return { id, kind: 'announcement', detailType, detail: { id, orderId, at: timeText(now), ...detail } };
}

/** The content of a status message about an order, besides its record. */
interface Reported {
  readonly status: StatusKind;
  /** The output of a completed order, without secrets. */
  readonly output?: Json | undefined;
}

/**
 * Builds a status message for the client's response queue, numbered by `statusSeq` of the record. A client sees only the type of the fault
 * that blocked or ended the order.
 */
export function statusOf(
  record: StateRecord,
  { reference }: OrderRecord,
  channel: string,
  { status, output }: Reported,
  now: number,
): OutboxEntry {
  const { statusSeq: seq, outcome, orderId, fault } = record;
  const about = {
    orderId,
    ...(reference === undefined ? {} : { reference }),
    seq,
    status,
    ...(outcome ? { outcome } : {}),
    ...(output === undefined ? {} : { output }),
    ...(fault ? { fault: { type: fault.type } } : {}),
  };
  return { id: `${orderId}/status/${seq}`, kind: 'status', channel, message: { v: 1, type: 'status', ...about, at: timeText(now) } };
}

/** Returns the reply of a called order to its caller, as outbox entries; empty if there is none. */
export function callerReplyOf({ orderId, epoch }: StateRecord, order: OrderRecord, state: State, now: number): readonly OutboxEntry[] {
  const message = replyToCaller(order, state, now);
  return message ? [{ id: `${orderId}/caller/${epoch}`, kind: 'status', channel: queueNames.callReplies, message }] : [];
}

/**
 * Returns the id of an `Order Processed` announcement. A called order may end twice: completed, then undone for its caller. Subscribers
 * that drop duplicates must get both announcements, so for a called order the id contains each outcome but `completed`. It does so also if
 * the order ends only once: a damaged record does not show whether there was an earlier end.
 */
export function processedId(record: StateRecord, { caller }: OrderRecord, outcome: Outcome): string {
  const id = `${announcedAs(record)}/processed`;
  return caller && outcome !== 'completed' ? `${id}/${outcome}` : id;
}

/** A fault of an order that a person must look at. */
export interface FaultAlert {
  readonly id: string;
  /** The fault, without secrets. */
  readonly fault: FaultSummary;
  /** States of the order before and after. */
  readonly before: string;
  readonly after: string;
  readonly failureCount: number;
}

/** Builds an alert about a fault of an order, as an entry of its outbox. */
export function faultAlert({ orderId }: StateRecord, detailType: DetailType, { fault, ...about }: FaultAlert, now: number): OutboxEntry {
  const { class: faultClass, type, source, message } = fault;
  const data = fault.data !== undefined && fits(fault.data, alertDataBytesMax) ? fault.data : undefined;
  return alertEntryOf(detailType, { ...about, orderId, at: now, class: faultClass, type, source, message, data });
}

/** Limit in UTF-8 bytes: the state contains an alert until it is sent. `GET /orders/{id}` shows longer data. */
const alertDataBytesMax = 4 * 1024;
