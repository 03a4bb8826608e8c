import { type Law, on } from './law.ts';

/** So many writes are more than any order makes that is damaged, looked at by a person, and ended by him. */
const writesMax = 150;

/** F48, S25, L7: a damaged order comes before a person, or is there already, or it was written whole by somebody who had read it before; it never loops. */
export const damage = (): Law => ({
  name: 'damage',
  after: on(['written'], (happening, history) => {
    const { orderId, damagedAt, writes } = history.orders.get(happening.after.orderId) ?? {};
    return damagedAt !== undefined && (writes ?? 0) - damagedAt > writesMax
      ? `${orderId} is damaged, and is written again and again`
      : undefined;
  }),
  atEnd: (history) =>
    [...history.orders.values()].flatMap(({ orderId, damagedAt, writes }) =>
      damagedAt === undefined || writes > damagedAt || history.waitsForPerson(orderId) || history.announced.has(`${orderId}/unreadable`)
        ? []
        : [`${orderId} is damaged, and nobody was told`],
    ),
});
