import type { CancelCommand, RequestCommand } from '#core/data/command';
import { cancelMessage, queueNames, requestMessage, wakeUpOf } from '#ports/messages';
import { delayMaxMs, type Outgoing } from '#ports/queues';
import type { OrderRecord, OutboxEntry } from '#ports/records';
import type { SentWithWrite } from '#ports/store';
import { entriesAsSent } from './outbox.ts';
import type { PlannedWrite } from './types.ts';

const requestsOf = ({ orderId, client: group, key }: OrderRecord, requests: readonly RequestCommand[], now: number): readonly Outgoing[] =>
  requests.map((request) => ({
    queue: queueNames.requests(request.agent),
    body: JSON.stringify(requestMessage(orderId, request, now, key)),
    group,
  }));

const cancelsOf = ({ orderId, client: group }: OrderRecord, cancels: readonly CancelCommand[]): readonly Outgoing[] =>
  cancels.map((cancel) => ({ queue: queueNames.requests(cancel.agent), body: JSON.stringify(cancelMessage(orderId, cancel)), group }));

/** Converts a plan to announcements and messages: status messages first, then cancels, requests and wake-ups. */
export const sentWithPlan = (
  order: OrderRecord,
  { requests, cancels, wakeUps }: Pick<PlannedWrite, 'requests' | 'cancels' | 'wakeUps'>,
  entries: readonly OutboxEntry[],
  now: number,
): SentWithWrite => {
  const entriesSent = entriesAsSent(entries);
  const wakes = wakeUps.map((at) => ({
    ...wakeUpOf(order, now),
    delayMs: Math.min(Math.max(0, at - now), delayMaxMs),
  }));
  return {
    announcements: entriesSent.announcements,
    messages: [
      ...entriesSent.messages.map((message) => ({ ...message, group: order.client })),
      ...cancelsOf(order, cancels),
      ...requestsOf(order, requests, now),
      ...wakes,
    ],
  };
};
