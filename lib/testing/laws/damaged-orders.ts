import { announcedAs, type StateRecord } from '#ports/records';
import { type Law, on, type Setting } from './law.ts';
import { callsOf, writesWhileWaiting } from './livelock.ts';

/**
 * More writes than a damaged order needs until an operator has ended it, even with 24 effects to undo. A rebuilt order may wait for
 * an order that it called: `writesWhileWaiting` adds writes for that time.
 */
const writesMax = 400;

/**
 * A damaged order reaches an operator (X-48, S25) and never loops (L7). Exempt are finished orders, and records that a process writes
 * whole because it had read them before the damage.
 */
export function damagedOrders({ now }: Pick<Setting, 'now'>): Law {
  const writes = new Map<string, { readonly number: number; readonly since: number }>();
  return {
    name: 'damaged orders',
    after: on(['written'], ({ before, after }, history) => {
      const { orderId } = after;
      if (history.orders.get(orderId)?.damagedAt === undefined || (before && isResend(before, after))) return undefined;
      const { number: earlier, since } = writes.get(orderId) ?? { number: 0, since: now() };
      const number = earlier + 1;
      writes.set(orderId, { number, since });
      if (number <= writesMax) return undefined;
      const most = writesMax + writesWhileWaiting(callsOf(orderId, history), now() - since);
      return number > most ? `order ${orderId} is damaged and was written ${number} times since` : undefined;
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

/** Whether the write only follows a failed send of the outbox. During an outage of the event bus, there is such a write every minute. */
const isResend = (before: StateRecord, after: StateRecord): boolean =>
  before.outbox.length > 0 && before.blob === after.blob && before.processState === after.processState;
