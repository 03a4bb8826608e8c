import type { AskCommand, CancelCommand } from '#core/data/command';
import { cancelMessage, queues, requestMessage, wakeUpOf } from '#ports/messages';
import { delayMaxMs, type Outgoing } from '#ports/queues';
import type { OrderRecord, OutboxEntry } from '#ports/records';
import type { Along } from '#ports/store';
import { alongOf } from './outbox.ts';
import type { Planned } from './types.ts';

const requestsOf = ({ orderId, client: group }: OrderRecord, asks: readonly AskCommand[], now: number): readonly Outgoing[] =>
  asks.map((ask) => ({ queue: queues.requests(ask.agent), body: JSON.stringify(requestMessage(orderId, ask, now)), group }));

const cancelsOf = ({ orderId, client: group }: OrderRecord, cancels: readonly CancelCommand[]): readonly Outgoing[] =>
  cancels.map((cancel) => ({ queue: queues.requests(cancel.agent), body: JSON.stringify(cancelMessage(orderId, cancel)), group }));

/** All that follows from a plan, as messages and announcements: what is to be told first, requests next, wake-ups last. */
export const alongOfPlan = (
  order: OrderRecord,
  { asks, cancels, wakeUps }: Pick<Planned, 'asks' | 'cancels' | 'wakeUps'>,
  entries: readonly OutboxEntry[],
  now: number,
): Along => {
  const told = alongOf(entries);
  const wakes = wakeUps.map((at) => ({
    ...wakeUpOf(order, now),
    delayMs: Math.min(Math.max(0, at - now), delayMaxMs),
  }));
  return {
    announcements: told.announcements,
    messages: [
      ...told.messages.map((message) => ({ ...message, group: order.client })),
      ...cancelsOf(order, cancels),
      ...requestsOf(order, asks, now),
      ...wakes,
    ],
  };
};
