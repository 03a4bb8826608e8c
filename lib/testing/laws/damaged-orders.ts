import { announcedAs, type StateRecord } from '#ports/records';
import { type Law, on } from './law.ts';

/** More writes than any damaged order needs until an operator has ended it, even one with 24 effects to undo. */
const writesMax = 400;

/**
 * A damaged order reaches an operator (X-48, S25) and never loops (L7). Exempt are finished orders, and records that a process writes
 * whole because it had read them before the damage.
 */
export function damagedOrders(): Law {
  const writes = new Map<string, number>();
  return {
    name: 'damaged orders',
    after: on(['written'], ({ before, after }, history) => {
      const { orderId } = after;
      if (history.orders.get(orderId)?.damagedAt === undefined || (before && isResend(before, after))) return undefined;
      const number = (writes.get(orderId) ?? 0) + 1;
      writes.set(orderId, number);
      return number > writesMax ? `order ${orderId} is damaged and was written ${number} times since` : undefined;
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, state, damagedAt, writes: all }) =>
        damagedAt === undefined ||
        all > damagedAt ||
        state.processState === 'Processed' ||
        history.waitsForPerson(orderId) ||
        [orderId, announcedAs(state)].some((name) => history.announced.has(`${name}/unreadable`))
          ? []
          : [`order ${orderId} is damaged, but no alert was announced`],
      ),
  };
}

/** Whether the write only follows a failed send of its outbox. During an outage of the event bus, one happens every minute. */
const isResend = (before: StateRecord, after: StateRecord): boolean =>
  before.outbox.length > 0 && before.blob === after.blob && before.processState === after.processState;
