import { announcedAs, type StateRecord } from '#ports/records';
import { type Law, on } from './law.ts';

/** So many writes are more than any order makes that is damaged, looked at by a person, and ended by him; one has 24 effects to undo. */
const writesMax = 400;

/**
 * X-48, S25, L7: a damaged order comes before a person, or is there already, or it was written whole by somebody who had read it
 * before; it never loops. One that is finished is of interest only to who reads it.
 */
export function damage(): Law {
  const writes = new Map<string, number>();
  return {
    name: 'damage',
    after: on(['written'], ({ before, after }, history) => {
      const { orderId } = after;
      if (history.orders.get(orderId)?.damagedAt === undefined || (before && isTriedAgain(before, after))) return undefined;
      const number = (writes.get(orderId) ?? 0) + 1;
      writes.set(orderId, number);
      return number > writesMax ? `${orderId} is damaged, and is written again and again` : undefined;
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, state, damagedAt, writes: all }) =>
        damagedAt === undefined ||
        all > damagedAt ||
        state.processState === 'Processed' ||
        history.waitsForPerson(orderId) ||
        [orderId, announcedAs(state)].some((told) => history.announced.has(`${told}/unreadable`))
          ? []
          : [`${orderId} is damaged, and nobody was told`],
      ),
  };
}

/** Nothing but what it is to tell is tried once more: while the bus is gone for a day that is so once a minute. */
const isTriedAgain = (before: StateRecord, after: StateRecord): boolean =>
  before.outbox.length > 0 && before.blob === after.blob && before.processState === after.processState;
