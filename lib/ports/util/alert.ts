import type { Json } from '#core/data/json';
import type { Announcement, Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import type { DetailType, FaultSummary, OutboxEntry } from '#ports/records';

/** An event that a person must look at: a fault of an order, or of the system. */
export interface Alert {
  /** Unchanged if the alert is repeated, so that subscribers count both as one. */
  readonly id: string;
  readonly orderId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `basic-failure` if it is undefined: a failure of the system, not of an application. */
  readonly class?: FaultSummary['class'];
  readonly type: string;
  /** The path, queue or service that failed. */
  readonly source?: string | undefined;
  /** States of the source before and after. */
  readonly before: string;
  readonly after: string;
  readonly failureCount?: number;
  readonly message: string;
  readonly data?: Json | undefined;
}

/**
 * Builds the announcement of an alert. All alerts have one format, so that one program can read them; fields that do not apply are left
 * out.
 */
export function alertOf(detailType: DetailType, alert: Alert): Announcement {
  const { id, orderId, at, class: kind = 'basic-failure', type, source, before, after, failureCount = 0, message, data } = alert;
  const detail = {
    id,
    ...(orderId ? { orderId } : {}),
    at: timeText(at),
    class: kind,
    type,
    ...(source ? { source } : {}),
    before,
    after,
    failureCount,
    message,
    ...(data === undefined ? {} : { data }),
  };
  return { id, detailType, detail };
}

/** Builds an alert as an entry of an order's outbox: it is part of the same write as the change that it reports. */
export const alertEntryOf = (detailType: DetailType, alert: Alert): OutboxEntry => ({
  kind: 'announcement',
  ...alertOf(detailType, alert),
});

/** Publishes an alert; rejects if the event bus refuses it. */
export async function publishAlert(publisher: Publisher, alert: Announcement): Promise<void> {
  const { failed } = await publisher.publish([alert]);
  if (failed.length > 0) throw new Error('The event bus refused the announcement.');
}
